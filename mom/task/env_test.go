package task

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rampart/mom/spool"
)

func testSite(t testing.TB) *Site {
	t.Helper()
	s, err := spool.Open(spool.Options{Home: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return &Site{
		Host: "hosta.example.org", Spool: s, Port: 15002,
		Settings: func() Settings {
			return Settings{
				Environment: map[string]string{"SITE": "s", "PATH": "/site/bin"},
				UseCopy:     []UseCopy{{"login.example.org", "/home/", "/net/home/"}, {"*.other.org", "/scratch", "/mnt"}},
			}
		},
	}
}

var ann = Account{Name: "ann", Home: "/home/ann", Shell: "/bin/bash"}

func TestEnvironment_WhoWins(t *testing.T) {
	s := testSite(t)
	task := New(spool.TaskKey{Job: "12.srv", Run: 1}, Attrs{
		{Name: "Job_Name", Value: "work"},
		{Name: "queue", Value: "workq"},
		{Name: "Variable_List", Value: `PBS_O_PATH=/a:/b,LIST=x\,y,BACK=a\\b,TMPDIR=/mine,EMPTY=,PBS_JOBID=fake`},
		{Name: "exec_vnode", Value: "(hosta:ncpus=2+hosta[1]:ncpus=1)+(hosta:ncpus=4)"},
		{Name: "exec_host", Value: "hosta/0*0+hosta/1*4"},
		{Name: "schedselect", Value: "1:ncpus=3+1:ncpus=4"},
	}, true, "b", "c00kie")
	env := s.environment(task, ann)
	for _, want := range []string{
		"HOME=/home/ann", "USER=ann", "LOGNAME=ann", "SHELL=/bin/bash", "PATH=/site/bin", "SITE=s",
		"PBS_O_PATH=/a:/b", "LIST=x,y", `BACK=a\b`, "EMPTY=", "TMPDIR=/var/tmp/pbs.12.srv",
		"PBS_JOBID=12.srv", "PBS_JOBNAME=work", "PBS_QUEUE=workq", "PBS_ENVIRONMENT=PBS_BATCH", "PBS_JOBDIR=/home/ann",
		"PBS_NODENUM=0", "PBS_TASKNUM=1", "PBS_MOMPORT=15002", "PBS_JOBCOOKIE=c00kie", "NCPUS=3", "OMP_NUM_THREADS=3",
		"PBS_NODEFILE=" + s.Spool.NodeFile("12.srv"),
	} {
		if !slices.Contains(env, want) {
			t.Errorf("lacks %s: %q", want, env)
		}
	}
}

// A job that came by bsub finds what scripts of LSF look for, and others do not.
func TestEnvironment_LSF(t *testing.T) {
	attrs := Attrs{
		{Name: "Job_Name", Value: "work"},
		{Name: "queue", Value: "workq"},
		{Name: "array_id", Value: "12[].srv"},
		{Name: "array_index", Value: "3"},
		{Name: "exec_vnode", Value: "(hosta:ncpus=2+hosta[1]:ncpus=1)+(hostb:ncpus=2)+(hosta:ncpus=1)+(hostc:ncpus=0)"}, // hostc is of its unit
		{Name: "exec_host", Value: "hosta/0*3+hostb/0*2+hosta/1+hostc/0*0"},
	}
	env := testSite(t).environment(New(spool.TaskKey{Job: "12[3].srv", Run: 1}, attrs, true, "b", "c"), ann)
	if slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "LSB_") }) {
		t.Errorf("of LSF: %q", env)
	}
	attrs = append(attrs, Attr{Name: "lsf_resreq", Value: "select[type==any]"})
	env = testSite(t).environment(New(spool.TaskKey{Job: "12[3].srv", Run: 1}, attrs, true, "b", "c"), ann)
	for _, want := range []string{
		"LSB_JOBID=12", "LSB_JOBINDEX=3", "LSB_JOBNAME=work[3]", "LSB_QUEUE=workq", "LSB_DJOB_NUMPROC=6",
		"LSB_MCPU_HOSTS=hosta 4 hostb 2", "LSB_HOSTS=hosta hosta hosta hosta hostb hostb",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("lacks %s: %q", want, env)
		}
	}
}

func TestEnvironment_OfSubjob(t *testing.T) {
	task := New(spool.TaskKey{Job: "12[3].srv", Run: 1}, Attrs{
		{Name: "Job_Name", Value: "work"}, {Name: "array_id", Value: "12[].srv"}, {Name: "array_index", Value: "3"},
	}, true, "b", "c00kie")
	env := testSite(t).environment(task, ann)
	for _, want := range []string{"PBS_JOBID=12[3].srv", "PBS_ARRAY_ID=12[].srv", "PBS_ARRAY_INDEX=3"} {
		if !slices.Contains(env, want) {
			t.Errorf("lacks %s: %q", want, env)
		}
	}
	if got := task.defaultName(stderr); got != "work.e12.3" {
		t.Errorf("stderr goes to %s", got)
	}
}

func TestNodeFile(t *testing.T) {
	for _, c := range []struct{ vnodes, hosts, sel, want string }{
		{"(hosta:ncpus=2)", "hosta/0*2", "1:ncpus=2", "hosta\n"},
		{"(hosta:ncpus=2)", "hosta.example.org/0*2", "1:ncpus=2:mpiprocs=2", "hosta.example.org\nhosta.example.org\n"},
		{"(hosta:ncpus=1)+(hosta:mem=1gb)+(hosta:ncpus=1)", "hosta/0+hosta/1*0+hosta/2", "1:ncpus=1+1:mem=1gb+1:ncpus=1", "hosta\nhosta\n"},
		{"(hosta:ncpus=1)+(hosta:ncpus=1)", "hosta/0+hosta/1", "2:ncpus=1:mpiprocs=3", strings.Repeat("hosta\n", 6)},
	} {
		task := Task{Order: Order{Attrs: Attrs{{Name: "exec_vnode", Value: c.vnodes}, {Name: "exec_host", Value: c.hosts}, {Name: "schedselect", Value: c.sel}}}}
		if got, err := task.nodeFile("hosta"); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.vnodes, got, err, c.want)
		}
	}
}

func TestNodeFile_TooManyProcesses(t *testing.T) {
	for _, sel := range []string{"1:ncpus=1:mpiprocs=9000000000000000000", "2:ncpus=1:mpiprocs=600000"} {
		task := Task{Order: Order{Attrs: Attrs{
			{Name: "exec_vnode", Value: "(hosta:ncpus=1)+(hosta:ncpus=1)"},
			{Name: "exec_host", Value: "hosta/0+hosta/1"},
			{Name: "schedselect", Value: sel},
		}}}
		if got, err := task.nodeFile("hosta"); err == nil {
			t.Errorf("%s: %d bytes", sel, len(got))
		}
	}
}

func TestShell(t *testing.T) {
	s := testSite(t)
	for list, want := range map[string]string{
		"": "/bin/bash", "/bin/csh": "/bin/csh", "/bin/ksh@hosta,/bin/csh": "/bin/ksh",
		"/bin/csh,/bin/ksh@hosta.example.org": "/bin/ksh", "/bin/ksh@hostb": "/bin/bash",
	} {
		o := Order{Attrs: Attrs{{Name: "Shell_Path_List", Value: list}}}
		if got := o.shell(ann, s.Host); got != want {
			t.Errorf("%q: %s, want %s", list, got, want)
		}
	}
	if got := (Order{}).shell(Account{}, s.Host); got != "/bin/sh" {
		t.Errorf("no shell at all: %s", got)
	}
}

func TestProgram(t *testing.T) {
	s := testSite(t)
	k := spool.TaskKey{Job: "12.srv", Run: 1}
	script := s.Spool.Script(k)
	for _, c := range []struct {
		task Task
		want program
	}{
		{Task{Order: Order{Key: k, Script: true}}, program{"/bin/bash", []string{"-bash"}, "exec '" + script + "'\n"}},
		{
			Task{Order: Order{Key: k, Script: true, Attrs: Attrs{{Name: "Shell_Path_List", Value: "/usr/bin/python3"}}}},
			program{"/usr/bin/python3", []string{"python3", script}, ""},
		},
		{Task{Order: Order{Key: k, Attrs: Attrs{
			{Name: "executable", Value: "<jsdl-hpcpa:Executable>/bin/echo</jsdl-hpcpa:Executable>"},
			{Name: "argument_list", Value: "<jsdl-hpcpa:Argument>a b</jsdl-hpcpa:Argument><jsdl-hpcpa:Argument>&lt;&amp;</jsdl-hpcpa:Argument>"},
		}}}, program{"/bin/echo", []string{"/bin/echo", "a b", "<&"}, ""}},
		{
			Task{Order: Order{Key: k, Attrs: Attrs{{Name: "executable", Value: "<jsdl-hpcpa:Executable>/bin/true</jsdl-hpcpa:Executable>"}}}},
			program{"/bin/true", []string{"/bin/true"}, ""},
		},
		{Task{Order: Order{Key: k}}, program{"/bin/bash", []string{"-bash"}, ""}},
	} {
		if got := s.program(c.task, ann, nil); !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}

func TestDirectory(t *testing.T) {
	s := testSite(t)
	for _, c := range []struct{ pwd, sandbox, root, want, jobdir string }{
		{"", "", "", "/home/ann", "/home/ann"},
		{"/tmp", "", "", "/tmp", "/home/ann"},
		{"", "HOME", "", "/home/ann", "/home/ann"},
		{"", "PRIVATE", "", "/home/ann/pbs.12.srv.x8z", "/home/ann/pbs.12.srv.x8z"},
		{"", "PRIVATE", "/scratch", "/scratch/pbs.12.srv.x8z", "/scratch/pbs.12.srv.x8z"},
		{"/tmp", "PRIVATE", "", "/tmp", "/home/ann/pbs.12.srv.x8z"},
		{"", "O_WORKDIR", "", "/work", "/work"},
	} {
		settings := s.Settings()
		settings.JobDirRoot = c.root
		s.Settings = func() Settings { return settings }
		task := Task{Order: Order{Key: spool.TaskKey{Job: "12.srv"}, Attrs: Attrs{
			{Name: "pwd", Value: c.pwd}, {Name: "sandbox", Value: c.sandbox}, {Name: "Variable_List", Value: "PBS_O_WORKDIR=/work"},
		}}}
		if got := s.directory(task, ann); got != c.want {
			t.Errorf("%+v: starts in %s", c, got)
		}
		if got := s.folders().jobDir(task, ann); got != c.jobdir {
			t.Errorf("%+v: PBS_JOBDIR %s", c, got)
		}
	}
}

func TestTarget(t *testing.T) {
	s := testSite(t)
	for _, c := range []struct{ path, keep, want, direct string }{
		{"hosta:/home/ann/x.o12", "n", "/home/ann/x.o12", ""},
		{"hosta.example.org:/home/ann/dir/", "", "/home/ann/dir/", ""},
		{"hosta:x.o12", "n", "/home/ann/x.o12", ""},
		{"/abs/with:colon", "n", "/abs/with:colon", ""},
		{"login.example.org:/home/ann/x.o12", "n", "/net/home/ann/x.o12", ""},
		{"LOGIN:/home/ann/x.o12", "n", "/net/home/ann/x.o12", ""},
		{"a.other.org:/scratch/x", "n", "/mnt/x", ""},
		{"hostb:/home/ann/x.o12", "n", "hostb:/home/ann/x.o12", ""},
		{"hostb:x.o12", "n", "hostb:x.o12", ""},
		{"hostb:/home/ann/x.o12", "oe", "/home/ann/work.o12", "/home/ann/work.o12"},
		{"hosta:/home/ann/x.o12", "e", "/home/ann/x.o12", ""},
		{"hosta:/scratch/x.o12", "oe", "/home/ann/work.o12", "/home/ann/work.o12"},
		{"hosta:/scratch/x.o12", "oed", "/scratch/x.o12", "/scratch/x.o12"},
		{"hosta:/scratch/", "od", "/scratch/", "/scratch/12.srv.OU"},
		{"hostb:/scratch/x.o12", "od", "hostb:/scratch/x.o12", ""},
		{"", "n", "/home/ann/work.o12", ""},
	} {
		task := Task{Order: Order{Key: spool.TaskKey{Job: "12.srv"}, Attrs: Attrs{
			{Name: "Job_Name", Value: "work"}, {Name: "Output_Path", Value: c.path}, {Name: "Keep_Files", Value: c.keep},
		}}}
		at := s.output().target(task, ann, stdout)
		got := at.path
		if at.host != "" {
			got = at.host + ":" + got
		}
		if got != c.want {
			t.Errorf("%s keep %s: %q, want %q", c.path, c.keep, got, c.want)
		}
		if got := s.output().direct(task, ann, stdout); got != c.direct {
			t.Errorf("%s keep %s: written to %q, want %q", c.path, c.keep, got, c.direct)
		}
		told := new(notes)
		s.Lines = told
		s.output().tellIndirect(task, ann)
		var want []string
		if strings.Contains(c.keep, "od") && c.direct == "" {
			want = []string{"Direct write is requested for job: 12.srv, but the destination: " + c.want + " is not usecp-able from hosta.example.org"}
		}
		if !slices.Equal(told.lines, want) {
			t.Errorf("%s keep %s: the log says %q", c.path, c.keep, told.lines)
		}
	}
}

func TestLookPath(t *testing.T) {
	if got := lookPath("sh", []string{"PATH=/nowhere:/bin"}); got != filepath.Join("/bin", "sh") {
		t.Errorf("sh is %s", got)
	}
	if got := lookPath("no-such-program", []string{"PATH=/bin"}); got != "no-such-program" {
		t.Errorf("got %s", got)
	}
}

func TestUmaskAndLimits(t *testing.T) {
	if got := (Task{}).umask(); got != 0o77 {
		t.Errorf("default umask %o", got)
	}
	task := Task{Order: Order{Attrs: Attrs{{Name: "umask", Value: "022"}, {Name: "Resource_List", Resource: "pcput", Value: "00:01:00"}}}}
	if got := task.umask(); got != 0o22 {
		t.Errorf("umask %o", got)
	}
	if l := task.rlimits(); len(l) != 1 || l[0].Value != 60 {
		t.Errorf("limits %+v", l)
	}
}
