package mom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/transport/api"
)

// definitionHeader is the first line of a vnode definition file.
const definitionHeader = "$configversion 2"

// A Definitions is the folder of a mom's vnode definition files.
type Definitions struct{ Dir string }

// List returns the names of the files, sorted.
func (d Definitions) List() ([]string, error) {
	entries, err := os.ReadDir(d.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list vnode definition files: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Show returns the content of a file.
func (d Definitions) Show(name string) ([]byte, error) {
	if err := validDefinition(name); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(d.Dir, name))
}

// Insert adds a file under a new name, when it can be read.
func (d Definitions) Insert(name string, text []byte) error {
	if _, err := d.Show(name); err == nil {
		return fmt.Errorf("insert %s: there is one of that name", name)
	}
	return d.Replace(name, text)
}

// Replace puts a file in place of the one of that name. Names that begin with PBS are reserved for PBS.
func (d Definitions) Replace(name string, text []byte) error {
	if err := validDefinition(name); err != nil {
		return err
	}
	if strings.HasPrefix(name, "PBS") {
		return fmt.Errorf("%s: names beginning with PBS are reserved", name)
	}
	if _, err := parseDefinition(string(text)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return err
	}
	tmp := filepath.Join(d.Dir, "."+name+".tmp")
	if err := os.WriteFile(tmp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(d.Dir, name))
}

// Remove deletes a file.
func (d Definitions) Remove(name string) error {
	if err := validDefinition(name); err != nil {
		return err
	}
	return os.Remove(filepath.Join(d.Dir, name))
}

func validDefinition(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\n") {
		return fmt.Errorf("%q is no name of a vnode definition file", name)
	}
	return nil
}

// definition is one line: VNODE: ATTRIBUTE[.RESOURCE] = VALUE.
type definition struct{ vnode, name, resource, value string }

func parseDefinition(text string) ([]definition, error) {
	lines := strings.Split(text, "\n")
	if strings.TrimSpace(lines[0]) != definitionHeader {
		return nil, fmt.Errorf("the first line is not %q", definitionHeader)
	}
	var all []definition
	for i, line := range lines[1:] {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		vnode, rest, ok := strings.Cut(line, ":")
		attr, value, assigned := strings.Cut(rest, "=")
		name, res, _ := strings.Cut(strings.TrimSpace(attr), ".")
		d := definition{strings.TrimSpace(vnode), name, res, strings.TrimSpace(value)}
		if !ok || !assigned || d.vnode == "" || d.name == "" || d.name == "resources_available" && d.resource == "" {
			return nil, fmt.Errorf("line %d: want VNODE: ATTRIBUTE = VALUE, not %q", i+2, line)
		}
		if err := d.check(); err != nil {
			return nil, fmt.Errorf("line %d: %s.%s = %s: %w", i+2, d.name, d.resource, d.value, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// check refuses a value that a built-in resource cannot have; the servers know the
// custom ones.
func (d definition) check() error {
	def, ok := resource.Lookup(d.resource)
	if d.name != "resources_available" || !ok {
		return nil
	}
	if target, shares := strings.CutPrefix(d.value, "@"); shares && def.AtVnodes() {
		if target == "" || target == d.vnode {
			return fmt.Errorf("want @VNODE, the name of another vnode")
		}
		return nil
	}
	_, err := resource.Parse(def.Type, d.value)
	return err
}

// vnodes returns what the mom offers, the natural vnode first: what the hardware has,
// unless the definition files say otherwise.
func (c *Config) vnodes() ([]*api.VnodeReport, error) {
	if c.Vnodes != nil {
		return c.Vnodes()
	}
	var all []definition
	files := Definitions{c.path("mom_priv", "config.d")}
	names, err := files.List()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.Show(name)
		if err != nil {
			return nil, err
		}
		lines, err := parseDefinition(string(text))
		if err != nil {
			return nil, fmt.Errorf("vnode definition file %s: %w", name, err)
		}
		all = append(all, lines...)
	}
	return c.offer(all), nil
}

func (c *Config) offer(lines []definition) []*api.VnodeReport {
	natural := newVnode(c.natural(), string(c.Host))
	if c.Probe != nil {
		hw := c.Probe()
		set(natural, "resources_available", "arch", hw.Arch)
		set(natural, "resources_available", "mem", resource.Kilobytes(hw.MemoryKB).String())
		set(natural, "resources_available", "ncpus", fmt.Sprint(hw.CPUs))
	}
	list := c.divide(natural)
	for _, l := range lines {
		i := slices.IndexFunc(list, func(v *api.VnodeReport) bool { return v.Name == l.vnode })
		if i < 0 {
			i = len(list)
			list = append(list, newVnode(l.vnode, string(c.Host)))
		}
		set(list[i], l.name, l.resource, l.value)
	}
	return list
}

func newVnode(name, host string) *api.VnodeReport {
	v := &api.VnodeReport{Name: name}
	set(v, "resources_available", "host", pbs.ShortHost(host))
	set(v, "resources_available", "vnode", name)
	return v
}

func set(v *api.VnodeReport, name, resource, value string) {
	for _, a := range v.Attributes {
		if a.Name == name && a.Resource == resource {
			a.Value = value
			return
		}
	}
	v.Attributes = append(v.Attributes, &api.Attribute{Name: name, Resource: resource, Value: value})
}
