package main

import (
	"fmt"
	"os"

	urfave "github.com/urfave/cli/v2"

	"rampart/cli/admin"
	"rampart/cmd/rampart/home"
)

// tokenFlag takes an enrolment token of that role from the command line, where others see it.
func tokenFlag(role string) urfave.Flag {
	return &urfave.StringFlag{Name: "token", Usage: "`TOKEN` from rampart token create --role " + role + "; others see it in the list of processes, so rather use:"}
}

var tokenFileFlag = &urfave.StringFlag{Name: "token-file", Usage: "`PATH` of a file with the token, - for standard input; without one it is in " + home.TokenVariable}

// tokenOf returns the enrolment token that the command was given.
func tokenOf(c *urfave.Context) (string, error) {
	token, err := home.TokenSource{Text: c.String("token"), Path: c.String("token-file"), Stdin: os.Stdin, Stderr: c.App.ErrWriter}.Token()
	if err != nil {
		return "", fmt.Errorf("%s: %w", admin.FullName(c), err)
	}
	return token, nil
}
