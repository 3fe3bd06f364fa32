package hook

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"rampart/transport/own"
)

// A Manifest is all that a host has to know of hooks and custom resources. It is a file
// format.
type Manifest struct {
	Generation uint64     `json:"generation"`
	Server     string     `json:"server"`
	Hooks      []Hook     `json:"hooks"`
	Resources  []Resource `json:"resources"`
}

// A Resource is a custom resource.
type Resource struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Flags string `json:"flags"`
}

// A Store keeps copies of hooks in a folder: NAME.HK, NAME.PY, NAME.CF, resourcedef as tools
// know them, and the manifest, which is written last and says what counts.
type Store struct {
	dir     string
	present atomic.Pointer[Manifest]
}

const manifestFile = "manifest.json"

// resourceFile has the custom resources, one on a line.
const resourceFile = "resourcedef"

// OpenStore reads what the folder holds; a folder without a manifest holds nothing.
func OpenStore(dir string) (*Store, error) {
	s := &Store{dir: dir}
	s.present.Store(&Manifest{})
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read hooks: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return s, nil // spoilt by a crash: the servers send it again
	}
	s.present.Store(&m)
	return s, nil
}

// Manifest returns what the host knows. It is not to be written to.
func (s *Store) Manifest() *Manifest { return s.present.Load() }

// Names returns the names of the files of all hooks, in their order.
func (s *Store) Names() []string {
	var names []string
	for _, h := range s.present.Load().Hooks {
		names = append(names, h.Name+".HK")
		if h.Script != "" {
			names = append(names, h.Name+".PY")
		}
		if h.Config != "" {
			names = append(names, h.Name+".CF")
		}
	}
	slices.Sort(names)
	return names
}

// At returns the hooks of an event that are complete, in the order in which they run.
func (s *Store) At(event string) []Hook {
	var all []Hook
	for _, h := range s.present.Load().Hooks {
		if h.Runs(event) && !h.Builtin() {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b Hook) int { return cmp.Or(cmp.Compare(a.Order(), b.Order()), cmp.Compare(a.Seq, b.Seq)) })
	return all
}

// ErrIncomplete is the error of a hook whose files are not those that the servers sent.
var ErrIncomplete = errors.New("the copy of the hook is not complete")

// Script returns a hook's script, and the path of its configuration file, "" if it has none.
func (s *Store) Script(h *Hook) (script []byte, config string, err error) {
	script, err = os.ReadFile(s.path(h.Name + ".PY"))
	if err != nil || sumOf(script) != h.Script {
		return nil, "", errors.Join(fmt.Errorf("hook %s: %w", h.Name, ErrIncomplete), err)
	}
	if h.Config == "" {
		return script, "", nil
	}
	config = s.path(h.Name + ".CF")
	text, err := os.ReadFile(config)
	if err != nil || sumOf(text) != h.Config {
		return nil, "", errors.Join(fmt.Errorf("hook %s: %w", h.Name, ErrIncomplete), err)
	}
	return script, config, nil
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// A Change is what Set has done.
type Change struct {
	Missing []string // checksums of contents that it lacks: nothing was changed
	Sent    []string // names of files that are new
	Deleted []string // names of files that are gone
}

// Set makes the folder hold what the manifest says, with the contents by their checksums.
// What lacks is told, and what came along is kept for the next call. Nothing is in use
// before all of it is on disk.
func (s *Store) Set(m *Manifest, contents map[string][]byte) (Change, error) {
	if err := own.Folder(s.dir, 0o751); err != nil {
		return Change{}, fmt.Errorf("keep hooks: %w", err)
	}
	files, missing, err := s.files(m, contents)
	if err != nil {
		return Change{}, err
	}
	if len(missing) > 0 {
		return Change{Missing: missing}, s.hoard(contents)
	}
	var c Change
	readable := readableByOwners(m)
	for name, body := range files {
		mode := os.FileMode(0o600)
		if readable[name] {
			mode = 0o644
		}
		fresh, err := s.put(name, body, mode)
		if err != nil {
			return Change{}, err
		}
		if fresh {
			c.Sent = append(c.Sent, name)
		}
	}
	text, err := json.MarshalIndent(m, "", " ")
	if err == nil {
		_, err = s.put(manifestFile, text, 0o600)
	}
	if err != nil {
		return Change{}, fmt.Errorf("keep hooks: %w", err)
	}
	s.present.Store(m)
	c.Deleted, err = s.sweep(files)
	slices.Sort(c.Sent)
	return c, err
}

// files returns the content of every file of a manifest.
func (s *Store) files(m *Manifest, contents map[string][]byte) (files map[string][]byte, missing []string, err error) {
	files = map[string][]byte{}
	if len(m.Resources) > 0 || s.has(resourceFile) {
		var b strings.Builder
		for _, r := range m.Resources {
			b.WriteString(r.Name + " type=" + r.Type)
			if r.Flags != "" {
				b.WriteString(" flag=" + r.Flags)
			}
			b.WriteByte('\n')
		}
		files[resourceFile] = []byte(b.String())
	}
	for i := range m.Hooks {
		h := &m.Hooks[i]
		if h.Name == "" || strings.ContainsAny(h.Name, "/\x00") || strings.HasPrefix(h.Name, ".") {
			return nil, nil, fmt.Errorf("keep hooks: %q is no name of a hook", h.Name)
		}
		files[h.Name+".HK"] = attributesText(h)
		for _, f := range []struct{ name, sum string }{{h.Name + ".PY", h.Script}, {h.Name + ".CF", h.Config}} {
			if f.sum == "" {
				continue
			}
			body, ok := contents[f.sum]
			if !ok {
				body, ok = s.kept(f.name, f.sum)
			}
			if !ok {
				body, ok = s.kept(hoarded+f.sum, f.sum)
			}
			if !ok || sumOf(body) != f.sum {
				missing = append(missing, f.sum)
				continue
			}
			files[f.name] = body
		}
	}
	return files, missing, nil
}

// hoard keeps contents until the others have come.
func (s *Store) hoard(contents map[string][]byte) error {
	for sum, body := range contents {
		if sumOf(body) != sum {
			continue
		}
		if _, err := s.put(hoarded+sum, body, 0o600); err != nil {
			return fmt.Errorf("keep hooks: %w", err)
		}
	}
	return nil
}

// hoarded begins the names of contents that are not in use yet.
const hoarded = ".have-"

func (s *Store) has(name string) bool {
	_, err := os.Stat(s.path(name))
	return err == nil
}

// kept returns a content that is on disk already.
func (s *Store) kept(name, sum string) ([]byte, bool) {
	body, err := os.ReadFile(s.path(name))
	return body, err == nil && sumOf(body) == sum
}

func attributesText(h *Hook) []byte {
	names := make([]string, 0, len(h.Attrs))
	for name := range h.Attrs {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("hook_name=" + h.Name + "\n")
	for _, name := range names {
		b.WriteString(name + "=" + h.Attrs[name] + "\n")
	}
	return []byte(b.String())
}

// readableByOwners returns the files that others than root may read: the configuration of hooks that run as the owner of
// a job. Scripts, and what other hooks are configured with, may hold secrets of the site.
func readableByOwners(m *Manifest) map[string]bool {
	all := map[string]bool{}
	for i := range m.Hooks {
		if h := &m.Hooks[i]; h.Attrs["user"] == pbsUser {
			all[h.Name+".CF"] = true
		}
	}
	return all
}

// put writes a file in place of the one of that name; fresh reports whether that had another content.
func (s *Store) put(name string, body []byte, mode os.FileMode) (fresh bool, err error) {
	old, err := os.ReadFile(s.path(name))
	if err == nil && string(old) == string(body) {
		return false, os.Chmod(s.path(name), mode)
	}
	f, err := os.OpenFile(s.path("."+name+".new"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return false, err
	}
	err = f.Chmod(mode) // one that was left half-written has another, and an umask may be in the way
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, err
	}
	return true, os.Rename(s.path("."+name+".new"), s.path(name))
}

// sweep removes the files of hooks that are no more.
func (s *Store) sweep(files map[string][]byte) (deleted []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range entries {
		name := e.Name()
		hooks := strings.HasSuffix(name, ".HK") || strings.HasSuffix(name, ".PY") || strings.Contains(name, ".CF")
		if strings.HasPrefix(name, hoarded) || strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".new") { // half-written
			errs = append(errs, os.Remove(s.path(name)))
			continue
		}
		if _, ok := files[name]; ok || e.IsDir() || !hooks {
			continue
		}
		errs = append(errs, os.Remove(s.path(name)))
		deleted = append(deleted, name)
	}
	return deleted, errors.Join(errs...)
}
