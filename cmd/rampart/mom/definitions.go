package mom

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"rampart/cmd/rampart/home"
	"rampart/mom"
)

// ErrDefinition is what manages vnode definition files wrongly: an unknown word, a file
// that is not there, one that cannot be read.
var ErrDefinition = errors.New("vnode definition file")

// Define manages the vnode definition files of a home: list, show NAME, insert NAME FILE,
// replace NAME FILE, remove NAME (specification: cli-contract section 9). What it says goes
// to out. The mom reads them when it starts, and at SIGHUP.
func Define(h home.Home, out io.Writer, word string, operands []string) error {
	files := mom.Definitions{Dir: h.VnodeFiles()}
	do, ok := map[string]struct {
		operands int
		run      func() error
	}{
		"list":    {0, func() error { return list(files, out) }},
		"show":    {1, func() error { return show(files, out, operands[0]) }},
		"remove":  {1, func() error { return files.Remove(operands[0]) }},
		"insert":  {2, func() error { return put(files.Insert, operands) }},
		"replace": {2, func() error { return put(files.Replace, operands) }},
	}[word]
	if !ok || len(operands) != do.operands {
		return fmt.Errorf("%w: want -s list|show NAME|insert NAME FILE|replace NAME FILE|remove NAME", ErrDefinition)
	}
	err := do.run()
	if errors.Is(err, fs.ErrNotExist) && (word == "show" || word == "remove") {
		err = fmt.Errorf("there is none called %s", operands[0])
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDefinition, word, err)
	}
	return nil
}

func list(files mom.Definitions, out io.Writer) error {
	names, err := files.List()
	for _, name := range names {
		fmt.Fprintln(out, name)
	}
	return err
}

func show(files mom.Definitions, out io.Writer, name string) error {
	text, err := files.Show(name)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

func put(in func(name string, text []byte) error, operands []string) error {
	text, err := os.ReadFile(operands[1])
	if errors.Is(err, syscall.EISDIR) {
		err = fmt.Errorf("%s is a directory", operands[1])
	}
	if err != nil {
		return err
	}
	return in(operands[0], text)
}
