// Command plant writes an overlay with all planted bugs into a directory, and prints the path of the file that
// `go build -overlay` and `go test -overlay` take. It is for whoever looks into a bug that is not seen; `make bugs` does it by itself.
package main

import (
	"fmt"
	"os"

	"rampart/chaos/planted"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./cmd/plant DIR, at the top of the module")
		os.Exit(2)
	}
	overlay, err := planted.Overlay(".", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(overlay)
}
