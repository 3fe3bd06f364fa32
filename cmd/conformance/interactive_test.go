package conformance

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"rampart/cmd/devrun"
)

// A typist is a command at a terminal, and what it has shown there.
type typist struct {
	t     *testing.T
	cmd   *exec.Cmd
	tty   *os.File
	shown output
}

func sitDown(t *testing.T, cmd *exec.Cmd) *typist {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 33, Cols: 99})
	if err != nil {
		t.Fatal(err)
	}
	p := &typist{t: t, cmd: cmd, tty: tty}
	go func() { _, _ = io.Copy(&p.shown, tty) }() // ends with an error when the terminal is gone
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
	})
	return p
}

// types sends keys and waits for words to be shown.
func (p *typist) types(keys, until string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
	waitFor(p.t, patience, until+" to be shown", p.shown.shows(until))
}

// jobGone reports whether a job is unknown, for waitFor.
func jobGone(t *testing.T, c *devrun.Cluster, id string) func() error {
	return func() error {
		out, err := c.Output(t.Context(), "qstat", id)
		if err == nil || !strings.Contains(out+err.Error(), "Unknown Job Id") && !strings.Contains(out+err.Error(), "has finished") {
			return fmt.Errorf("job %s: %s, %w", id, out, err)
		}
		return nil
	}
}

// TestInteractive_OutlivesLeaderAndMom: a session at a terminal goes on when the leader is
// killed, and when the mom is; each key arrives once, and programs are shown.
func TestInteractive_OutlivesLeaderAndMom(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg")
	screen := newScreen(t)
	cmd := c.Command(t.Context(), "qsub", "-I", "-X", "-S", "/bin/sh", "-N", "talk")
	cmd.Env = append(cmd.Env, "DISPLAY="+screen.display, "XAUTHORITY="+screen.keys)
	p := sitDown(t, cmd)
	p.types("", "qsub: waiting for job 0.srv to start")
	p.types("", "qsub: job 0.srv ready")
	p.types("echo at:$DISPLAY:$XAUTHORITY:\n", "at:localhost:")
	screen.shows(p)
	p.types("echo $PBS_ENVIRONMENT-$((1+1)); stty size\n", "PBS_INTERACTIVE-2")
	p.types("", "33 99")
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.types("n=0\n", "n=0")
	if err := c.Signal(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := p.tty.WriteString("n=$((n+1))\n"); err != nil {
			t.Fatal(err)
		}
	}
	p.types("echo leader:$n:\n", "leader:20:")
	screen.shows(p)
	if err := pty.Setsize(p.tty, &pty.Winsize{Rows: 44, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	p.types("stty size\n", "44 120")
	if err := c.Signal("borg", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart(t.Context(), "borg"); err != nil {
		t.Fatal(err)
	}
	p.types("echo mom:$n:\n", "mom:20:")
	screen.shows(p)
	p.types("exit 3\n", "qsub: job 0.srv completed")
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("qsub -I ends with %v", err)
	}
	waitFor(t, patience, "the end to be accounted", jobGone(t, c, "0"))
}

// TestInteractive_TerminalGone: ~. and the end of the terminal end the job, ^C asks while
// it waits.
func TestInteractive_TerminalGone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg:ncpus=1")
	gone := func(id string) {
		t.Helper()
		waitFor(t, patience, id+" to be gone", jobGone(t, c, id))
	}
	p := sitDown(t, c.Command(t.Context(), "qsub", "-I", "-S", "/bin/sh"))
	p.types("", "qsub: job 0.srv ready")
	waiting := sitDown(t, c.Command(t.Context(), "qsub", "-I", "-l", "ncpus=1"))
	waiting.types("", "waiting for job 1.srv")
	waiting.types("\x03", "Do you wish to terminate the job and exit (y|[n])?")
	waiting.types("y\n", "Job 1.srv is being deleted")
	gone("1")
	p.types("sleep 1000\n", "sleep 1000")
	p.types("\r~.", "qsub: job 0.srv completed")
	gone("0")
	p = sitDown(t, c.Command(t.Context(), "qsub", "-I", "-S", "/bin/sh"))
	p.types("", "qsub: job 2.srv ready")
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	gone("2")
}

// TestInteractive_ByBsub: the command of bsub -Is has the terminal, and bsub ends as it does.
func TestInteractive_ByBsub(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg")
	screen := newScreen(t)
	cmd := c.Command(t.Context(), "bsub", "-IX", "echo at:$DISPLAY:$XAUTHORITY: $PBS_ENVIRONMENT-$((1+1)); read word; stty size; echo got-$word; exit 3")
	cmd.Env = append(cmd.Env, "DISPLAY="+screen.display, "XAUTHORITY="+screen.keys)
	p := sitDown(t, cmd)
	p.types("", "Job <0> is submitted to default queue <workq>.")
	p.types("", "<<Waiting for dispatch ...>>")
	p.types("", "<<Starting on borg>>")
	p.types("", "PBS_INTERACTIVE-2")
	screen.shows(p)
	p.types("word\n", "got-word")
	p.types("", "33 99")
	if err := p.cmd.Wait(); p.cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("bsub -Is ends with %v: %s", err, p.shown.String())
	}
}

// loginHost adds a login host to a cluster, and returns the cluster as it is seen from there.
func loginHost(t *testing.T, c *devrun.Cluster) *devrun.Cluster {
	t.Helper()
	all, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	net := all[0].Address[:strings.LastIndex(all[0].Address, ".")]
	token := succeed(t, c, "token", "create", "--role", "submit", "--host", "login")
	succeed(t, c, "mom", "join", "--home", c.Home("login"), "--host", "login", "--token", strings.TrimSpace(token),
		"--replica", all[0].Address, "--listen", net+".150:15002")
	daemon := c.Command(t.Context(), "rampart", "mom", "--home", c.Home("login"))
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	})
	login := through(c, "login")
	waitFor(t, patience, "the login host to answer", func() error {
		_, err := login.Output(t.Context(), "qstat")
		return err
	})
	return login
}

// TestInteractive_AtALoginHost: a session at a host that is neither a replica nor has vnodes ends when its
// shell does, one after the other; a terminal that is gone without a word ends its job.
func TestInteractive_AtALoginHost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg")
	login := loginHost(t, c)
	for n := range 3 {
		p := sitDown(t, login.Command(t.Context(), "qsub", "-I", "-S", "/bin/sh"))
		p.types("", fmt.Sprintf("qsub: job %d.srv ready", n))
		p.types("exit\n", fmt.Sprintf("qsub: job %d.srv completed", n))
		ended := make(chan error, 1)
		go func() { ended <- p.cmd.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("qsub -I ends with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("qsub -I does not end with its session")
		}
	}
	p := sitDown(t, login.Command(t.Context(), "qsub", "-I", "-S", "/bin/sh"))
	p.types("", "qsub: job 3.srv ready")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, 3*patience, "the job of a dead terminal to end", jobGone(t, c, "3"))
}

// TestMail_SurvivesKilledLeader: none of the mails of jobs that end while the leader dies is
// lost, and a mailer that hangs holds up only its own.
func TestMail_SurvivesKilledLeader(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg")
	box := filepath.Join(c.Dir, "box")
	if err := os.Mkdir(box, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(box, 0o777); err != nil { // root's mails are sent by nobody
		t.Fatal(err)
	}
	mailer := filepath.Join(c.Dir, "mailer")
	script := "#!/bin/sh\nf=$(mktemp " + box + "/mail.XXXXXX)\n{ echo \"args: $*\"; cat; } > $f\ncase $* in *stuck*) exec sleep 1000;; esac\n"
	if err := os.WriteFile(mailer, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	must := func(name string, args ...string) string {
		t.Helper()
		out, err := c.Output(t.Context(), name, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	must("qmgr", "-c", "set server mailer = "+mailer+", mail_from = pbsadm")
	must("qsub", "-N", "stuck", "-m", "b", "-M", "stuck@nowhere", "-j", "oe", "-o", "/dev/null", "--", "/bin/true")
	var ids []string
	for range 6 {
		ids = append(ids, must("qsub", "-N", "work", "-m", "e", "-M", "ann@home,bob", "-j", "oe", "-o", "/dev/null", "--", "/bin/sh", "-c", "sleep 1; exit 4"))
	}
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Signal(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "all mails to have come", func() error {
		files, _ := filepath.Glob(filepath.Join(box, "mail.*"))
		var all strings.Builder
		for _, f := range files {
			text, _ := os.ReadFile(f)
			all.Write(text)
		}
		for _, id := range ids {
			want := "args: -f pbsadm ann@home bob\nTo: ann@home, bob\nSubject: PBS JOB " + id + "\n\nPBS Job Id: " + id +
				"\nJob Name:   work\nExecution terminated\nExit_status=4\nresources_used."
			if !strings.Contains(all.String(), want) {
				return os.ErrNotExist
			}
		}
		return nil
	})
}

// TestDefaultArguments: what the server adds to each submission counts less than directives
// and the command line, and is followed when it changes.
func TestDefaultArguments(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg")
	job := filepath.Join(c.Dir, "job.pbs")
	if err := os.WriteFile(job, []byte("#PBS -p 7\n#PBS -N mine\ntrue\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		defaults string
		args     []string
		want     []string
	}{
		{`= "-p 3 -A nightly -h -m n"`, []string{job}, []string{"Priority = 7", "Account_Name = nightly", "Hold_Types = u", "Mail_Points = n"}},
		{`= "-p 3 -A nightly -h -m n"`, []string{"-A", "own", "-p", "9", job}, []string{"Priority = 9", "Account_Name = own"}},
		{`= "-h -A 'two words'"`, []string{"--", "/bin/true"}, []string{"Account_Name = two words", "Priority = 0"}},
	} {
		if _, err := c.Output(t.Context(), "qmgr", "-c", "set server default_qsub_arguments "+s.defaults); err != nil {
			t.Fatal(err)
		}
		id, err := c.Output(t.Context(), "qsub", s.args...)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := c.Output(t.Context(), "qstat", "-f", id)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range s.want {
			if !strings.Contains(shown, "    "+line+"\n") {
				t.Errorf("qsub %v with %s: no %q in\n%s", s.args, s.defaults, line, shown)
			}
		}
	}
}
