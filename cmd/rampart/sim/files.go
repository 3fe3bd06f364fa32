package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"rampart/chaos/world"
)

// files are the folders and files of a scenario: where they lie, and what commands see of them.
type files struct {
	s       *scenario
	dir     string // of all homes
	world   *world.World
	updates map[string]string // what cmp got, by the names in the archive
	hidden  *regexp.Regexp    // the folder of all homes
}

func (d *files) folder(name string) string { return filepath.Join(d.dir, name) }

// furnish lays out the files of the archive, and what moms read at their start: the paths of all hosts are
// the scenario's own.
func (d *files) furnish() error {
	for _, dir := range []string{d.folder(workFolder), filepath.Join(d.folder(filesFolder), "tmp"), d.folder(tmpFolder)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, m := range d.s.hosts {
		tmp := filepath.Join(d.folder(tmpFolder), m.Name)
		config := fmt.Sprintf("$usecp *:%s/ %s/\n$usecp *:/ %s/\n$tmpdir %s\n", workAs, d.folder(workFolder), d.folder(filesFolder), tmp)
		err := errors.Join(os.MkdirAll(tmp, 0o755), os.WriteFile(filepath.Join(d.world.Home(m.Name), "mom_priv", "config"), []byte(config), 0o644))
		if err != nil {
			return err
		}
	}
	for _, f := range d.s.archive.Files {
		file, data := filepath.Join(d.folder(workFolder), f.Name), f.Data
		if host, rest, ok := home(f.Name); ok {
			file = filepath.Join(d.world.Home(host), rest)
			if rest == "mom_priv/config" { // beside what is there
				before, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				data = append(before, data...)
			}
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o755)); err != nil {
			return err
		}
	}
	return nil
}

// update writes the scenario with what cmp got.
func (d *files) update() error {
	for i, f := range d.s.archive.Files {
		if got, ok := d.updates[f.Name]; ok {
			d.s.archive.Files[i].Data = []byte(got)
		}
	}
	data := txtar.Format(d.s.archive)
	if again := txtar.Parse(data); len(again.Files) != len(d.s.archive.Files) || !bytes.Equal(again.Comment, d.s.archive.Comment) {
		return fmt.Errorf("%s: what cmp got cannot stand in an archive: it has lines like those between files", d.s.file)
	}
	return os.WriteFile(d.s.file, data, 0o644)
}

// standardHome is PBS_HOME where nobody says otherwise: commands that read logs find those of the first replica.
const standardHome = "/var/spool/rampart"

// real returns the path of a file that commands know by that name; they can see nothing else of the machine.
func (d *files) real(name string) (string, error) {
	if !path.IsAbs(name) {
		name = path.Join(workAs, name)
	}
	name = path.Clean(name)
	for from, to := range map[string]string{workAs: d.folder(workFolder), standardHome: d.world.Home(d.world.Replicas()[0])} {
		if rest, ok := strings.CutPrefix(name, from); ok && (rest == "" || rest[0] == '/') {
			return filepath.Join(to, rest), nil
		}
	}
	return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (d *files) open(name string) (*os.File, error) {
	file, err := d.real(name)
	if err != nil {
		return nil, err
	}
	return os.Open(file)
}

// clusterAs is what the folder of all homes is called in what is shown: its name is another one each time.
const clusterAs = "/cluster"

// shown returns a text with clusterAs in the place of the folder of all homes, even where a long line was folded within it.
func (d *files) shown(text string) string {
	if d.hidden == nil {
		var pattern strings.Builder
		for i, c := range d.dir {
			if i > 0 {
				pattern.WriteString(`(?:\n\t)?`)
			}
			pattern.WriteString(regexp.QuoteMeta(string(c)))
		}
		d.hidden = regexp.MustCompile(pattern.String())
	}
	return d.hidden.ReplaceAllLiteralString(text, clusterAs)
}

// archived reports whether the archive has a file of that name.
func (d *files) archived(name string) bool {
	for _, f := range d.s.archive.Files {
		if f.Name == name {
			return true
		}
	}
	return false
}
