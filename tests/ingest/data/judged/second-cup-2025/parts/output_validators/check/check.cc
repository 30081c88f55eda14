// Accepts any two parts that are large enough and add up to the number; "distinct" asks for two that differ.
#include "verdict.h"

#include <cstring>

int main(int argc, char **argv) {
    std::ifstream input(argv[1]);
    std::ofstream message(std::string(argv[3]) + "judgemessage.txt");
    long long number, first, second, smallest = 0;
    bool distinct = false;
    for (int place = 4; place < argc; ++place) {
        if (!std::strcmp(argv[place], "distinct")) distinct = true;
        if (!std::strcmp(argv[place], "smallest")) smallest = std::atoll(argv[++place]);
    }
    if (!(input >> number)) return 1;
    if (!(std::cin >> first >> second)) return reject(message, "not two numbers");
    std::string more;
    if (std::cin >> more) return reject(message, "more than two numbers");
    if (first < smallest || second < smallest) return reject(message, "a part is too small");
    if (distinct && first == second) return reject(message, "the parts are equal");
    return first + second == number ? ACCEPTED : reject(message, "the sum is another");
}
