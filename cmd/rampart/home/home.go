// Package home names what is below PBS_HOME (design section 13) and writes the files there
// that belong to the programs as such: their own configuration. What the components keep in
// their folders is theirs.
package home

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rampart/transport/own"
)

// Default is PBS_HOME if nobody says otherwise.
const Default = "/var/spool/rampart"

// Of is PBS_HOME as this host has it: of the environment, of pbs.conf, or Default.
func Of() string { return cmp.Or(Conf("PBS_HOME"), Default) }

// A Home is the folder of one daemon.
type Home string

// The folders.
func (h Home) ServerPriv() string { return h.join("server_priv") }
func (h Home) Raft() string       { return h.join("server_priv", "raft") }
func (h Home) Scripts() string    { return h.join("server_priv", "scripts") }
func (h Home) ServerTLS() string  { return h.join("server_priv", "tls") }
func (h Home) Accounting() string { return h.join("server_priv", "accounting") }
func (h Home) ServerLogs() string { return h.join("server_logs") }
func (h Home) SchedPriv() string  { return h.join("sched_priv") }
func (h Home) SchedLogs() string  { return h.join("sched_logs") }
func (h Home) CommLogs() string   { return h.join("comm_logs") }
func (h Home) MomPriv() string    { return h.join("mom_priv") }
func (h Home) MomTLS() string     { return h.join("mom_priv", "tls") }
func (h Home) MomLogs() string    { return h.join("mom_logs") }

// Gateway returns the socket of the named daemon.
func (h Home) Gateway(name string) string { return h.join("run", name+".sock") }

// MomGateway returns the socket of the mom of that name. At a home that has a replica, commands
// are to find that one's, so the mom's is elsewhere.
func (h Home) MomGateway(name string) string {
	if _, err := os.Stat(h.ServerConfig()); err == nil {
		return h.join("run", "mom", name+".sock")
	}
	return h.Gateway(name)
}

// MomTasks returns the socket at which programs of jobs find the mom of that name.
func (h Home) MomTasks(name string) string { return h.join("run", name+".tasks") }

// ServerConfig returns the configuration file of a replica.
func (h Home) ServerConfig() string { return h.join("server_priv", "replica.json") }

// MomConfig returns the configuration file of a mom as a member of the cluster; what PBS
// keeps in mom_priv/config stays there.
func (h Home) MomConfig() string { return h.join("mom_priv", "mom.json") }

// VnodeFiles returns the folder of vnode definition files.
func (h Home) VnodeFiles() string { return h.join("mom_priv", "config.d") }

func (h Home) join(parts ...string) string {
	return filepath.Join(append([]string{string(h)}, parts...)...)
}

// Make makes folders that everybody may enter, for daemons that run jobs of others, and only
// the daemon may write.
func (h Home) Make(folders ...string) error {
	for _, f := range append([]string{string(h)}, folders...) {
		if err := own.Folder(f, 0o755); err != nil {
			return fmt.Errorf("make home: %w", err)
		}
	}
	return nil
}

// WriteConfig replaces a configuration file as a whole.
func WriteConfig(path string, config any) error {
	data, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return err
	}
	return Replace(path, append(data, '\n'))
}

// Replace writes a file, readable by its owner, so that a crash leaves the old or the new one.
func Replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// ReadConfig reads a configuration file; a key that we do not know is an error, and so is
// anything that follows the one value.
func ReadConfig(path string, config any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	err = dec.Decode(config)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the configuration")
		}
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
