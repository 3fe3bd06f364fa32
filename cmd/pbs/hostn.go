package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// resolveWithin bounds a question to the name service.
const resolveWithin = 10 * time.Second

// hostn is pbs_hostn [-v] HOST: the full name of a host, and with -v its addresses.
func hostn(args []string) int {
	verbose := len(args) == 2 && args[0] == "-v"
	if verbose {
		args = args[1:]
	}
	if len(args) != 1 || args[0] == "" || args[0][0] == '-' {
		fmt.Fprintln(os.Stderr, "usage: pbs_hostn [-v] hostname")
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveWithin)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, args[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "pbs_hostn: host %s is not known: %v\n", args[0], err)
		return 1
	}
	name := args[0]
	if full, err := net.DefaultResolver.LookupCNAME(ctx, args[0]); err == nil {
		name = strings.TrimSuffix(full, ".")
	}
	if !verbose {
		fmt.Println(name)
		return 0
	}
	fmt.Printf("primary name: %s\n", name)
	for _, a := range addresses {
		fmt.Printf("    address: %s\n", a)
	}
	return 0
}
