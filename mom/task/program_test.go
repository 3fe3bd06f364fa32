package task

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// A program that could not be started is refused before it is on record: whoever asks for it is
// a program of a job.
func TestStep_RefusesAProgramThatIsNone(t *testing.T) {
	for _, ev := range []Spawn{
		{Key: "k"},
		{Key: "k", Args: []string{""}},
		{Args: []string{"true"}},
		{Key: "k", Args: []string{"true", strings.Repeat("x", MaxProgram)}},
		{Key: "k", Args: []string{"true"}, Env: []string{strings.Repeat("x", MaxProgram)}},
	} {
		for _, where := range []Task{in(Running), in(Running, asSister)} {
			if next, actions, err := step(where, ev); !errors.Is(err, pbs.Refuse(pbs.InvalidRequest)) || len(next.Programs)+len(actions) > 0 {
				t.Errorf("%d arguments, %d variables: %v, %v", len(ev.Args), len(ev.Env), actions, err)
			}
		}
	}
}

// Hooks tell the job's own program from those that it starts by the node file (specification:
// reliable-startup section 7).
func TestProgramEnvironment_OnlyTheJobsOwnHasTheNodeFile(t *testing.T) {
	s, has := testSite(t), func(v string) bool { return strings.HasPrefix(v, "PBS_NODEFILE=") }
	for _, where := range []Task{in(Running), in(Running, asSister)} {
		if !slices.ContainsFunc(s.environment(where, Account{Name: "ann"}), has) {
			t.Error("the job's own program has no PBS_NODEFILE")
		}
		if env := s.programEnvironment(where, Account{Name: "ann"}, Program{ID: 2}); slices.ContainsFunc(env, has) {
			t.Errorf("a program that a job has started has %q", env)
		}
	}
}

// A job's script finds the commands of PBS_EXEC, whatever its login shell makes of PATH. One that begins with no #! is
// interpreted by that shell.
func TestProgram_FindsTheCommands(t *testing.T) {
	dir := t.TempDir()
	s := testSite(t)
	k := spool.TaskKey{Job: "12.srv", Run: 1}
	if err := os.MkdirAll(filepath.Dir(s.Spool.Script(k)), 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "it's here")
	own := map[string]string{"bash": "bash"} // what such a script finds out of its shell; zsh leaves it to sh
	for _, shell := range []string{"sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		p := s.program(Task{Order: Order{Key: k, Script: true}}, Account{Home: dir, Shell: path}, []string{"PBS_EXEC=/other", "PBS_EXEC=" + home})
		for script, want := range map[string]string{
			"#!/bin/sh\necho $PATH\n": home + "/bin:/", "echo $PATH\n": home + "/bin",
			"echo ${BASH_VERSION:+bash}\n": own[shell],
		} {
			if want == "" {
				continue
			}
			if err := os.WriteFile(s.Spool.Script(k), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), p.path)
			cmd.Args, cmd.Stdin, cmd.Env = p.args, strings.NewReader(p.stdin), []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}
			out, err := cmd.Output()
			// csh warns of no terminal before it
			if err != nil || !strings.Contains("\n"+string(out), "\n"+want) {
				t.Errorf("%s, %q: %v: %s", shell, script, err, out)
			}
		}
	}
}

// A profile that has made PATH readonly costs the commands, not the job.
func TestProgram_RunsWhereThePathIsReadonly(t *testing.T) {
	dir := t.TempDir()
	s := testSite(t)
	k := spool.TaskKey{Job: "12.srv", Run: 1}
	if err := os.MkdirAll(filepath.Dir(s.Spool.Script(k)), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{s.Spool.Script(k): "#!/bin/sh\necho ran\n", filepath.Join(dir, ".profile"): "readonly PATH\n"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, shell := range []string{"sh", "bash", "dash", "ksh"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		p := s.program(Task{Order: Order{Key: k, Script: true}}, Account{Home: dir, Shell: path}, []string{"PBS_EXEC=/opt/pbs"})
		cmd := exec.CommandContext(t.Context(), p.path)
		cmd.Args, cmd.Stdin, cmd.Env = p.args, strings.NewReader(p.stdin), []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ran\n" {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
}
