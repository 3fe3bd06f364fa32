package home

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"rampart/cli"
	"rampart/transport/daylog"
)

// Conf returns a setting of this host: the environment's, else that of pbs.conf, which
// daemons read with the tolerance of the commands.
func Conf(key string) string {
	if v, ok := os.LookupEnv(key); ok {
		return v
	}
	f, err := os.Open(cmp.Or(os.Getenv("PBS_CONF_FILE"), cli.DefaultConf))
	if err != nil {
		return ""
	}
	defer f.Close()
	return cli.ParseConf(f)[key]
}

// HighRes reports whether the lines of PBS's logs have microseconds (specification: logs
// section 1).
func HighRes() bool { return Conf("PBS_LOG_HIGHRES_TIMESTAMP") == "1" }

// Syslog returns which lines of logs go to the log of the operating system, as pbs.conf says.
func Syslog() daylog.Syslog {
	number := func(key string) int {
		n, _ := strconv.Atoi(Conf(key)) // what is no number is as if it were not there
		return n
	}
	return daylog.Syslog{Facility: number("PBS_SYSLOG"), Severity: number("PBS_SYSLOGSEVR"), Only: Conf("PBS_LOCALLOG") == "0"}
}

// Path returns a setting that is the absolute path of a file or folder, "" if it is none.
func Path(key string) string {
	path := Conf(key)
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}

// SCP returns the program that copies files of jobs to hosts that are not in the cluster: that
// of pbs.conf, else the system's, "" if there is none.
func SCP() string {
	if program := Conf("PBS_SCP"); program != "" {
		return program
	}
	program, err := exec.LookPath("scp")
	if err != nil {
		return ""
	}
	return program
}

// LimitCore gives this process, and what it starts, the limit of core files that PBS_CORE_LIMIT
// of pbs.conf names: bytes, or "unlimited". Without one the limit stays what it is.
func LimitCore() error {
	text := Conf("PBS_CORE_LIMIT")
	if text == "" {
		return nil
	}
	limit := uint64(unix.RLIM_INFINITY)
	if text != "unlimited" {
		var err error
		if limit, err = strconv.ParseUint(text, 10, 63); err != nil {
			return fmt.Errorf("PBS_CORE_LIMIT=%s is neither a number of bytes nor unlimited", text)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return fmt.Errorf("PBS_CORE_LIMIT=%s cannot be set: %w", text, err)
	}
	return nil
}
