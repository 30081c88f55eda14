#pragma once
#include <fstream>
#include <iostream>
#include <string>

const int ACCEPTED = 42, REJECTED = 43;

inline int reject(std::ostream &message, const std::string &reason) {
    message << reason << '\n';
    return REJECTED;
}
