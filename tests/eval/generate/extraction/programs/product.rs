use std::io;

fn main() {
    let mut line = String::new();
    io::stdin().read_line(&mut line).unwrap();
    let v: Vec<i64> = line.split_whitespace().map(|x| x.parse().unwrap()).collect();
    println!("{}", v[0] * v[1]);
}
