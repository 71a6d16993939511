// Sample writes a small Delta table to try lakesweep on:
//
//	go run ./examples/sample /tmp/sample-table
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/lakesweep/lakesweep/internal/sample"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sample FOLDER")
		os.Exit(2)
	}
	if err := sample.Write(os.Args[1], time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
	fmt.Println(os.Args[1])
}
