package lsf

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/transport/api"
)

func queueOf(name string, values ...string) *api.Object {
	o := jobOf(name, values...).Object
	o.Name = name
	return o
}

// Columns of bqueues and bhosts: aligned, cut, with a delimiter, as JSON, without titles; and what is none.
func TestSheet(t *testing.T) {
	o := queueOf("normal", "Priority", "30", "enabled", "True", "started", "True", "comment", "for all")
	for _, c := range []struct {
		options []cli.Option
		want    string
	}{
		{[]cli.Option{{Name: "o", Value: "queue_name:8 njobs:-6 res_req:3"}}, "QUEUE_NAME  NJOBS RES\nnormal        7 -  \n"},
		{[]cli.Option{{Name: "o", Value: "QNAME status prio delimiter='|'"}}, "QUEUE_NAME|STATUS|PRIORITY\nnormal|Open:Active|30\n"},
		{[]cli.Option{{Name: "o", Value: "qname pend run susp rsv delimiter=','"}, {Name: "noheader"}}, "normal,4,2,1,0\n"},
		{[]cli.Option{{Name: "o", Value: "qname desc"}, {Name: "json"}}, "{\n  \"COMMAND\":\"bqueues\",\n  \"QUEUES\":1,\n  \"RECORDS\":[\n    {\n      \"QUEUE_NAME\":\"normal\",\n      \"DESCRIPTION\":\"for all\"\n    }\n  ]\n}\n"},
	} {
		opts := cli.OptionsOf(cli.Line{Options: c.options})
		if err := sheetOptions("bqueues", opts); err != nil {
			t.Error(err)
		}
		x, err := newSheet("bqueues", "QUEUES", opts, queueColumns)
		if err != nil {
			t.Errorf("%v: %v", c.options, err)
			continue
		}
		x.add(queueValues(o, tally{total: 7, pending: 4, running: 2, user: 1}))
		b := new(bytes.Buffer)
		out := bufio.NewWriter(b)
		x.write(out)
		_ = out.Flush()
		if want := strings.Replace(c.want, "QUEUE_NAME  NJOBS RES", "*UE_NAME  NJOBS *EQ", 1); b.String() != want {
			t.Errorf("%v: %q, want %q", c.options, b, want)
		}
	}
	for _, text := range []string{"", "nosuch", "max:0", "max:x", "max delimiter='ab'"} {
		if _, err := newSheet("bhosts", "HOSTS", cli.OptionsOf(cli.Line{Options: []cli.Option{{Name: "o", Value: text}}}), hostColumns); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	for _, names := range [][]string{{"json"}, {"o", "l"}, {"o", "s"}} {
		var options []cli.Option
		for _, name := range names {
			options = append(options, cli.Option{Name: name})
		}
		if sheetOptions("bhosts", cli.OptionsOf(cli.Line{Options: options})) == nil {
			t.Errorf("%v is taken", names)
		}
	}
	for _, known := range [][]knownColumn{queueColumns, hostColumns} {
		values := queueValues(o, tally{})
		for _, k := range known {
			if _, has := values[k.name]; k.width <= 0 || &known[0] == &queueColumns[0] && !has {
				t.Errorf("column %s", k.name)
			}
		}
	}
}

// Queues whose jobs may have a host, and that a user may use.
func TestChosenQueues(t *testing.T) {
	private := queueOf("private", "acl_user_enable", "True", "acl_users", "-ann@*,bob,+cal@login", "lsf_hosts", "all ~hostb")
	open := queueOf("open", "acl_users", "bob")
	for user, want := range map[string]bool{"ann": false, "bob": true, "cal": true, "dan": false, "": true, "all": true} {
		if mayBeUsedBy(private, user) != want || !mayBeUsedBy(open, user) {
			t.Errorf("%s may use private: %t", user, !want)
		}
	}
	for host, want := range map[string]bool{"hosta": true, "hostb": false, "": true} {
		if mayUseHost(private, host, lsf.Config{}) != want || !mayUseHost(open, host, lsf.Config{}) {
			t.Errorf("jobs of private may have %q: %t", host, !want)
		}
	}
}

// Why jobs wait in sum, without the hosts; times as clocks.
func TestSums(t *testing.T) {
	for reason, want := range map[string]string{"Job slot limit reached: hosta, hostb;": "Job slot limit reached", "New job is waiting for scheduling;": "New job is waiting for scheduling"} {
		if got := reasonAlone(reason); got != want {
			t.Errorf("%s: %s", reason, got)
		}
	}
	v := &jobsView{hms: true}
	if got := v.seconds(36_61, "%d"); got != "01:01:01" {
		t.Error(got)
	}
	v.hms = false
	if got := v.seconds(60, "%d second(s)"); got != "60 second(s)" {
		t.Error(got)
	}
}
