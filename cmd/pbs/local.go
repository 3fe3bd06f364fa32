package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rampart/cli"
	"rampart/cli/pbs"
)

// locals are the commands that ask no server (specification: drop-in section 1).
var locals = map[string]func(args []string) int{
	pbs.PythonName: python,
	pbs.SleepName:  sleep,
	pbs.HostnName:  hostn,
}

// localCommand returns the command of that name if it asks no server, else nil. A program of PBS
// that is not here fails, for it did nothing.
func localCommand(name string) func(args []string) int {
	if absent, ok := pbs.FindAbsent(name); ok {
		return func([]string) int {
			fmt.Fprintln(os.Stderr, absent)
			return 1
		}
	}
	return locals[name]
}

// sleep is pbs_sleep SECONDS, a job for those who try things.
func sleep(args []string) int {
	if len(args) == 1 {
		if seconds, err := strconv.ParseFloat(args[0], 64); err == nil && seconds >= 0 && seconds < 1e9 {
			<-time.After(time.Duration(seconds * float64(time.Second)))
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, "usage: pbs_sleep seconds")
	return 1
}

// python is pbs_python: a plain interpreter with the arguments that it was given, which finds PBS's modules.
func python(args []string) int {
	if len(args) > 0 && args[0] == hookFlag {
		return replay(args[1:])
	}
	path, err := findPython(context.Background())
	if err == nil {
		err = os.Setenv("PYTHONPATH", modulePath())
	}
	if err == nil {
		err = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	}
	fmt.Fprintf(os.Stderr, "pbs_python: %v\n", err)
	return 1
}

// modulePath returns where Python looks for modules: where it was told to, and then where those of this installation are.
func modulePath() string {
	path := filepath.SplitList(os.Getenv("PYTHONPATH"))
	if dir := execDir(); dir != "" {
		path = append(path, filepath.Join(dir, "lib", "python", "altair"))
	}
	return strings.Join(path, string(filepath.ListSeparator))
}

// errNoPython says what is missing.
var errNoPython = errors.New("no Python of version 3.9 or later is on this host: install one, or name it with PBS_PYTHON")

// findPython returns the first interpreter that is new enough: that which the site names,
// one that was installed beside us, or one of the system.
func findPython(ctx context.Context) (string, error) {
	candidates := []string{os.Getenv("PBS_PYTHON")}
	if dir := execDir(); dir != "" {
		candidates = append(candidates, filepath.Join(dir, "python", "bin", "python3"))
	}
	for _, name := range []string{"python3", "/usr/bin/python3", "/usr/local/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil {
			candidates = append(candidates, path)
		}
	}
	for _, path := range candidates {
		if path == "" {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := exec.CommandContext(ctx, path, "-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 9))").Run()
		cancel()
		if err == nil {
			return path, nil
		}
	}
	return "", errNoPython
}

// execDir is PBS_EXEC, as the environment or pbs.conf have it.
func execDir() string {
	if dir := os.Getenv("PBS_EXEC"); dir != "" {
		return dir
	}
	f, err := os.Open(cmp.Or(os.Getenv("PBS_CONF_FILE"), cli.DefaultConf))
	if err != nil {
		return ""
	}
	defer f.Close()
	return cli.ParseConf(f)["PBS_EXEC"]
}
