package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf/conf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Where the files of LSF are when neither the environment of the replica nor lsf.conf says otherwise.
const (
	envDir    = "/etc"
	maxConfig = 16 << 20 // of one file
)

// Configure reads the files of LSF that this replica's host has, and has them hold when nothing of them is wrong enough:
// badmin reconfig and ckconfig (specification: reservation section 8.7).
func (b *Batch) Configure(ctx context.Context, r *connect.Request[api.ConfigureRequest]) (*connect.Response[api.ConfigureReply], error) {
	out := &api.ConfigureReply{}
	_, err := b.change(ctx, r, func(p person) ([]command.Command, error) {
		out.Messages, out.Fatal = nil, false
		if p.perm < attr.Operator {
			return nil, pbs.Errorf(pbs.Unauthorized, "User permission denied")
		}
		c, problems, err := configured(p.view, os.Getenv("LSF_ENVDIR"))
		if err != nil {
			return nil, err
		}
		for _, problem := range problems {
			out.Messages = append(out.Messages, problem.String())
		}
		out.Fatal = conf.Fatal(problems)
		if out.Fatal || r.Msg.GetCheck() {
			return nil, errChecked
		}
		return []command.Command{reconfigure(c)}, nil
	})
	if errors.Is(err, errChecked) {
		err = nil
	}
	return reply(out, err)
}

// errChecked ends a request that changes nothing.
var errChecked = errors.New("checked")

// configured reads and checks the files.
func configured(v *state.View, dir string) (conf.Configuration, []conf.Problem, error) {
	files, err := readFiles(dir)
	if err != nil {
		return conf.Configuration{}, nil, err
	}
	c, problems := conf.Read(files, knownBeside(v))
	return c, problems, nil
}

// knownBeside returns what the cluster has that did not come from files.
func knownBeside(v *state.View) conf.Known {
	var k conf.Known
	for d := range v.CustomResources() {
		if _, ours := v.LSF().Resource(d.Name); !ours {
			k.Defs = append(k.Defs, d)
		}
	}
	for q := range v.Queues() {
		if w, _ := v.Reconfigured().WrittenOn(attr.Queue, string(q.Name)); !w.Made && q.Reservation == "" {
			k.Queues = append(k.Queues, q.Name)
		}
	}
	return k
}

func reconfigure(c conf.Configuration) *command.Reconfigure {
	out := &command.Reconfigure{Config: c.Config, Server: c.Server}
	for _, d := range c.Resources {
		out.Resources = append(out.Resources, state.ResourceDef{Def: d})
	}
	for _, q := range c.Queues {
		out.Queues = append(out.Queues, command.Setting{Name: q.Name, Attrs: q.Attrs})
	}
	return out
}

// readFiles reads what there is of the files; it is refused when there is none at all, for that is a wrong place.
func readFiles(env string) (conf.Files, error) {
	var files conf.Files
	if env == "" {
		env = envDir
	}
	var err error
	if files.Conf, err = readFile(filepath.Join(env, "lsf.conf")); err != nil {
		return files, err
	}
	confDir, batchDir := env, ""
	if files.Conf != nil {
		for name, value := range conf.Parameters(files.Conf.Text) {
			switch name {
			case "LSF_CONFDIR":
				confDir = value
			case "LSB_CONFDIR":
				batchDir = value
			}
		}
	}
	cluster, err := clusterFile(confDir)
	if err != nil {
		return files, err
	}
	if batchDir == "" {
		batchDir = confDir
	} else if name, ok := clusterName(cluster); ok {
		batchDir = filepath.Join(batchDir, name, "configdir")
	}
	missing := 0
	for _, f := range []struct {
		to   **conf.File
		path string
	}{
		{&files.Shared, filepath.Join(confDir, "lsf.shared")},
		{&files.Cluster, cluster},
		{&files.Params, filepath.Join(batchDir, "lsb.params")},
		{&files.Hosts, filepath.Join(batchDir, "lsb.hosts")},
		{&files.Queues, filepath.Join(batchDir, "lsb.queues")},
		{&files.Resources, filepath.Join(batchDir, "lsb.resources")},
		{&files.Modules, filepath.Join(batchDir, "lsb.modules")},
		{&files.Applications, filepath.Join(batchDir, "lsb.applications")},
	} {
		if *f.to, err = readFile(f.path); err != nil {
			return files, err
		}
		if *f.to == nil {
			missing++
		}
	}
	if missing == 8 {
		return files, pbs.Errorf(pbs.InvalidRequest, "there are no configuration files of LSF in %s and %s: set LSF_ENVDIR for the replica, or LSF_CONFDIR and LSB_CONFDIR in %s",
			confDir, batchDir, filepath.Join(env, "lsf.conf"))
	}
	return files, nil
}

// clusterFile finds lsf.cluster.NAME, of which there may be one, or lsf.cluster.
func clusterFile(dir string) (string, error) {
	all, err := filepath.Glob(filepath.Join(dir, "lsf.cluster.*"))
	if err != nil {
		return "", pbs.Errorf(pbs.InvalidRequest, "%s: %s", dir, err)
	}
	slices.Sort(all)
	switch len(all) {
	case 0:
		return filepath.Join(dir, "lsf.cluster"), nil
	case 1:
		return all[0], nil
	}
	return "", pbs.Errorf(pbs.InvalidRequest, "there are several files lsf.cluster.NAME in %s: %s and %s; keep the one of this cluster", dir, filepath.Base(all[0]), filepath.Base(all[1]))
}

func clusterName(path string) (string, bool) {
	const begin = "lsf.cluster."
	base := filepath.Base(path)
	return base[min(len(begin), len(base)):], len(base) > len(begin)
}

// readFile reads one file, nil if there is none.
func readFile(path string) (*conf.File, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxConfig) {
		err = fmt.Errorf("%s is no file of at most %d bytes", path, maxConfig)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, pbs.Errorf(pbs.SystemError, "the configuration cannot be read: %s", err)
	}
	return &conf.File{Path: path, Text: string(text)}, nil
}

// Configuration returns what holds as files of LSF: what was read last, with what qmgr has changed of it since.
func (b *Batch) Configuration(ctx context.Context, _ *connect.Request[api.ConfigurationRequest]) (*connect.Response[api.ConfigurationReply], error) {
	v, err := b.Replica.Read(ctx, cluster.Fresh) // whoever has just changed it asks any replica
	if err != nil {
		return nil, err
	}
	if _, err := b.person(ctx, v); err != nil {
		return nil, err
	}
	out := &api.ConfigurationReply{}
	for _, f := range conf.Dump(holding(v)) {
		out.Files = append(out.Files, &api.ConfigurationFile{Name: f.Name, Text: []byte(f.Text)})
	}
	return connect.NewResponse(out), nil
}

// holding returns the configuration in force.
func holding(v *state.View) conf.Configuration {
	c := conf.Configuration{Config: *v.LSF()}
	for d := range v.CustomResources() {
		if _, ours := v.LSF().Resource(d.Name); ours {
			c.Resources = append(c.Resources, resource.Def{Name: d.Name, Type: d.Type, Flags: d.Flags})
		}
	}
	if q := v.Server().DefaultQueue(); q != "" {
		c.Server = c.Server.Set("default_queue", "", string(q))
	}
	for q := range v.Queues() {
		if q.Reservation == "" && !q.Routes() {
			c.Queues = append(c.Queues, conf.Queue{Name: string(q.Name), Attrs: conf.Said(q.Attrs)})
		}
	}
	return c
}
