package main

import "fmt"

func main() {
	var n, k int64
	fmt.Scan(&n, &k)
	fmt.Println(n * k)
}
