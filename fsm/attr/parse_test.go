package attr

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// values lists, for an attribute, texts with what they become; "" is a refusal.
type values map[string]string

func TestParse(t *testing.T) {
	long := strings.Repeat("a", MaxJobName)
	for _, c := range []struct {
		o    Object
		name string
		values
	}{
		{Job, "Job_Name", values{
			"run1": "run1", "1abc": "1abc", "a.b-c_d+e": "a.b-c_d+e", long: long, long + "a": "", "1abc%%": "", "": "",
			"a b": "", ".a": ".a", "a\x00": "", "\xff\xfe": "", "a/b": "", "-a": "-a", "ä": "",
		}},
		{Job, "Priority", values{"0": "0", "-1024": "-1024", "1023": "1023", "1024": "", "-1025": "", "5000": "", "x": "", "+5": "5"}},
		{Job, "Checkpoint", values{"u": "u", "n": "n", "c=10": "c=10", "w=5": "w=5", "s=5": "", "c=0": "", "c=x": "", "": "", "q": ""}},
		{Job, "Hold_Types", values{"u": "u", "so": "os", "n": "n", "un": "", "x": "", "": ""}},
		{Job, "Join_Path", values{"oe": "oe", "eo": "eo", "n": "n", "xx": "", "o": "", "": ""}},
		{Job, "Keep_Files", values{"n": "n", "o": "o", "e": "e", "oe": "oe", "eo": "eo", "d": "d", "oed": "oed", "oo": "", "no": "", "": ""}},
		{Job, "Mail_Points", values{"n": "n", "abe": "abe", "bea": "bea", "ja": "ja", "j": "", "na": "", "x": "", "": ""}},
		{Job, "Mail_Users", values{"ann": "ann", "ann, bob@h": "ann,bob@h", "": ""}},
		{Job, "Rerunable", values{"y": "True", "n": "False", "True": "True", "x": "", "": ""}},
		{Job, "Error_Path", values{"/tmp/e": "/tmp/e", "hosta:/tmp/e": "hosta:/tmp/e", "a b": "a b", "hosta:": "hosta:", ":/x": "", "": "", "a\nb": ""}},
		{Job, "Shell_Path_List", values{"/bin/sh": "/bin/sh", "/bin/sh,/bin/csh@b": "/bin/sh,/bin/csh@b", "bash": "", "/a,/b": "", "": ""}},
		{Job, "group_list", values{"g1": "g1", "g1,g2@b": "g1,g2@b", "g1,g2": "", "@b": "", "g1@": ""}},
		{Job, "User_List", values{"ann": "ann", "ann@b,bob": "ann@b,bob", "ann@": "", "ann@b,bob@": ""}},
		{Job, "umask", values{"022": "22", "77": "77", "0": "0", "777": "777", "1000": "", "8": "", "-1": ""}},
		{Job, "run_count", values{"0": "0", "20": "20", "-1": "", "x": "", "2147483648": ""}},
		{Job, "pwd", values{"/home/ann": "/home/ann", "work": "", "": ""}},
		{Job, "project", values{"p1": "p1", "a b": "a b", " a": "", "a ": "", "a\tb": "", "a[1]": "", "": ""}},
		{Job, "Account_Name", values{"acct 1": "acct 1", "a\nb": "a\nb", "a\x01": "a\x01", "a\x00": "", "": ""}},
		{Job, "Variable_List", values{
			"A=1,B=2": "A=1,B=2", "A=a\\,b,B=": "A=a\\,b,B=", "A": "A", "A=x\ny": "A=x\ny", "=1": "", "A=1,": "", "A B=1": "", "A=\x00": "",
		}},
		{Job, "tolerate_node_failures", values{"none": "none", "JOB_START": "job_start", "all": "all", "maybe": ""}},
		{Job, "Submit_arguments", values{"-N a\nb": "-N a\nb", "\x00": ""}},
		{Job, "Remove_Files", values{"oe": "oe", "n": "n", "x": ""}},
		{Server, "scheduling", values{"true": "True", "f": "False", "maybe": ""}},
		{Server, "log_events", values{"511": "511", "-1": "-1", "-2": "", "x": ""}},
		{Server, "managers", values{"a@*": "a@*", "a@*, b@*": "a@*,b@*", "root@*.org": "root@*.org", "a": "", "@h": "", "a@": "", "a@h*x": ""}},
		{Server, "acl_roots", values{"root": "root", "root@h,+a@*": "root@h,+a@*", "+": "+", "a b": "", "root@": "", "-root@": "", "@h": "", "a,root@": ""}},
		{Server, "max_run", values{
			"[u:PBS_GENERIC=2]": "[u:PBS_GENERIC=2]", "[u:ann=2], [g:g1=5]": "[u:ann=2],[g:g1=5]", "[o:PBS_ALL=9]": "[o:PBS_ALL=9]",
			`[u:"ann"=2]`: "[u:ann=2]", "[p:proj=1]": "[p:proj=1]", "5": "", "[u:ann]": "", "[x:ann=2]": "", "[o:ann=2]": "",
			"[u:ann=2": "", "[u:ann=2],": "", "[u:ann=2][u:bob=1]": "", "[u:ann=2],[u:ann=3]": "", "[u:ann=-1]": "", "[u:=1]": "", "": "",
		}},
		{Server, "default_queue", values{"workq": "workq", "1q": "1q", "-q": "", "q:a": "", "a_very_long_queue": "", "": ""}},
		{Server, "timezone", values{"UTC": "UTC", "Europe/Berlin": "Europe/Berlin", "../etc": "", "/etc": "", "": "", "Local": ""}},
		{Server, "job_history_duration", values{"336:00:00": "336:00:00", "60": "00:01:00", "x": ""}},
		{Server, "node_fail_requeue", values{"0": "0", "-1": "-1", "x": ""}},
		{Server, "comment", values{"hello there": "hello there", "a\nb": "a\nb", "a\x07": "a\x07", "a\x00": "", "\xff": "", "": ""}},
		{Vnode, "comment", values{"a\nb": "a\nb", "a\rb": "a\rb"}},
		{Job, "comment", values{"a\nb": "a\nb", "\x1b[1m": "\x1b[1m", "\x00": ""}},
		{Queue, "queue_type", values{"execution": "Execution", "E": "Execution", "exec": "Execution", "route": "Route", "R": "Route", "x": "", "": ""}},
		{Queue, "enabled", values{"true": "True", "1": "True", "x": ""}},
		{Vnode, "state", values{"offline": "offline", "free": "free", "offline,down": "offline,down", "job-busy": "", "": ""}},
		{Vnode, "Mom", values{"hosta": "hosta", "hosta.example.org": "hosta.example.org", "a b": "", "": ""}},
		{Vnode, "Port", values{"15002": "15002", "0": "", "65536": ""}},
		{Resource, "type", values{"long": "long", "string_array": "string_array", "time": "", "nosuch": ""}},
		{Resource, "flag", values{"nh": "hn", "q": "q", "n": "n", "x": ""}},
		{Sched, "preempt_order", values{"SCR": "SCR", "S": "S", "SCR 80 SC 50 S": "SCR 80 SC 50 S", "SCR 80": "", "SCR 50 S 80 C": "", "XY": "", "SS": "", "": ""}},
		{Sched, "preempt_prio", values{
			"express_queue, normal_jobs": "express_queue, normal_jobs", "express_queue,normal_jobs": "express_queue, normal_jobs",
			"starving_jobs+fairshare": "starving_jobs+fairshare", "nosuch": "", "": "",
		}},
		{Sched, "job_run_wait", values{"runjob_hook": "runjob_hook", "none": "none", "x": ""}},
		{Sched, "sched_cycle_length", values{"00:20:00": "00:20:00", "1200": "00:20:00"}},
	} {
		d, ok := Lookup(c.o, c.name)
		if !ok {
			t.Errorf("%s has no %s", c.o, c.name)
			continue
		}
		for text, want := range c.values {
			got, err := d.Parse(text)
			if want == "" && err == nil || got != want {
				t.Errorf("%s %s = %.40q: %q, %v, want %q", c.o, c.name, text, got, err, want)
			}
		}
	}
}

func TestParse_RefusalNamesTheAttribute(t *testing.T) {
	d, _ := Lookup(Job, "Priority")
	_, err := d.Parse("5000")
	if pbs.CodeOf(err) != pbs.BadAttributeValue || err.Error() != "Illegal attribute or resource value Priority" {
		t.Errorf("got %v", err)
	}
}

func TestVariables(t *testing.T) {
	list := "A=1,B=" + EscapeVariable(`x,y\z`) + ",C="
	for name, want := range map[string]string{"A": "1", "B": `x,y\z`, "C": ""} {
		if got, ok := Variable(list, name); !ok || got != want {
			t.Errorf("%s is %q, %v, want %q", name, got, ok, want)
		}
	}
	if _, ok := Variable(list, "D"); ok {
		t.Error("D is set")
	}
}

// FuzzParse holds for every attribute that parsing is canonical: what it returns,
// it returns unchanged the next time.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"[u:PBS_GENERIC=2],[g:a=1]", "A=1,B=a\\,b", "ann@*,bob@h", "SCR 80 S", "oe", "022", "c=10", "True", "336:00:00", "a, b,,c",
		"hosta:/x", "[u:\"a b\"=1]", "express_queue , normal_jobs + fairshare", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for o := Server; o < objects; o++ {
			for _, d := range All(o) {
				canonical, err := d.Parse(text)
				if err != nil {
					continue
				}
				if again, err := d.Parse(canonical); err != nil || again != canonical {
					t.Fatalf("%s %s: %q becomes %q, then %q, %v", o, d.Name, text, canonical, again, err)
				}
			}
		}
	})
}
