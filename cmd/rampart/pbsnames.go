package main

import (
	"context"
	"os"

	"rampart/cmd/rampart/dropin"
)

// runAs is the program under one of PBS's names.
func runAs(name string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return dropin.Run(context.Background(), dropin.World{
		Program: program, Args: os.Args, Stdout: os.Stdout, Stderr: os.Stderr, Logger: newLogger, Address: hostAddress,
	}, name)
}
