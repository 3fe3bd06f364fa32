package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

const (
	standardModules = "Begin PluginModule\nSCH_PLUGIN RB_PLUGIN SCH_DISABLE_PHASES\nschmod_default () ()\nschmod_parallel () ()\nschmod_reserve () ()\nEnd PluginModule\n"
	licences        = "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING CONSUMABLE RELEASE DESCRIPTION\nlicenseX Numeric () N Y Y (application X)\nlicenseY Numeric () N Y N (b)\nbandwidth Numeric 60 Y Y () (link load)\nbigmem Boolean () () () () (large)\nEnd Resource\n"
)

// texts returns what is wrong.
func texts(all []Problem) []string {
	var out []string
	for _, p := range all {
		out = append(out, p.String())
	}
	return out
}

// The example of a site is read without a word, and what is dumped of it is read again as the same.
func TestRead_Example(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "docs", "examples", "lsf")
	var f Files
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		slot := f.slot(e.Name())
		if slot == nil {
			t.Fatalf("%s is no file of LSF", e.Name())
		}
		*slot = &File{e.Name(), string(text)}
	}
	c, problems := Read(f, Known{})
	if len(texts(problems)) > 0 {
		t.Errorf("%s", strings.Join(texts(problems), "\n"))
	}
	if len(c.Queues) != 20 || len(c.Config.Limits) != 4 || len(c.Config.Applications) != 3 || len(c.Resources) != 10 || c.Config.Turn() != 20 || len(c.Config.Units) != 3 {
		t.Errorf("%d queues, %d limits, %d applications, %d resources", len(c.Queues), len(c.Config.Limits), len(c.Config.Applications), len(c.Resources))
	}
	if f := c.Config.Factor("viz01"); f != 620 {
		t.Errorf("viz01 has the factor %d", f)
	}
	again, problems := Read(FilesOf(Dump(c)...), Known{})
	if len(texts(problems)) > 0 {
		t.Errorf("dumped: %s", strings.Join(texts(problems), "\n"))
	}
	slices.SortFunc(again.Config.Hosts, byName)
	slices.SortFunc(c.Config.Hosts, byName)
	if !reflect.DeepEqual(c, again) {
		t.Error("it is another one when it is dumped and read again")
	}
}

// The texts of section 8.8, each with its file, its section and the line at which that ends.
func TestRead_Problems(t *testing.T) {
	queue := func(lines string) Named {
		return Named{"lsb.queues", "Begin Queue\nQUEUE_NAME = q\n" + lines + "\nEnd Queue\n"}
	}
	at := func(line string) string { return "File lsb.queues in section Queue ending at line " + line + ": " }
	for _, c := range []struct {
		name  string
		files []Named
		want  []string
		fatal bool
	}{
		{
			"RSV-55",
			[]Named{{"lsb.modules", standardModules}, queue("RESOURCE_RESERVE = MAX_RESERVE_TIME[20]\nSLOT_RESERVE = MAX_RESERVE_TIME[5]")},
			[]string{at("5") + "both RESOURCE_RESERVE and SLOT_RESERVE are defined for queue q; SLOT_RESERVE ignored"},
			false,
		},
		{"period", []Named{{"lsb.modules", standardModules}, queue("RESOURCE_RESERVE = MAX_RESERVE_TIME[]\nSLOT_RESERVE = MAX_RESERVE_TIME[x]")}, []string{
			at("5") + "MAX_RESERVE_TIME is specified without period time for queue q; ignoring RESOURCE_RESERVE",
			at("5") + "MAX_RESERVE_TIME is specified without period time for queue q; ignoring SLOT_RESERVE",
		}, false},
		{
			"RSV-36",
			[]Named{queue("RESOURCE_RESERVE = MAX_RESERVE_TIME[20]")},
			[]string{at("4") + "RESOURCE_RESERVE of queue q ignored: schmod_reserve is not configured in lsb.modules"},
			false,
		},
		{
			"no parallel",
			[]Named{queue("SLOT_RESERVE = MAX_RESERVE_TIME[20]")},
			[]string{at("4") + "SLOT_RESERVE of queue q ignored: schmod_parallel is not configured in lsb.modules"},
			false,
		},
		{
			"order of modules",
			[]Named{{"lsb.modules", "Begin PluginModule\nSCH_PLUGIN\nschmod_reserve\nschmod_parallel\nEnd PluginModule"}, queue("RESOURCE_RESERVE = MAX_RESERVE_TIME[20]")},
			[]string{at("4") + "schmod_parallel must be listed before schmod_reserve; job slot reservation by RESOURCE_RESERVE disabled for queue q"},
			false,
		},
		{
			"outside",
			[]Named{queue("RES_REQ = rusage[mem=20]\nRESRSV_LIMIT = [mem=30,100]")},
			[]string{at("5") + "RES_REQ value of resource mem is outside RESRSV_LIMIT of queue q; ignored"},
			false,
		},
		{"conditions", []Named{queue("STOP_COND = select[mem<\nRESUME_COND = rusage[mem=5]")}, []string{
			at("5") + "STOP_COND of queue q: Bad resource requirement syntax: at character 12: found the end, expected a number, a resource, defined( or (; ignored",
			at("5") + "RESUME_COND of queue q: not valid: rusage[mem=5]; expected a select[] of hosts; ignored",
		}, false},
		{"limits", []Named{queue("RESRSV_LIMIT = [mem=100,30] [nosuch=1] [swp=x]")}, []string{
			at("4") + "RESRSV_LIMIT of resource mem in queue q is not valid; ignored",
			at("4") + "RESRSV_LIMIT of resource nosuch in queue q is not valid; ignored",
			at("4") + "RESRSV_LIMIT of resource swp in queue q is not valid; ignored",
		}, false},
		{"syntax", []Named{queue("RES_REQ = rusage[mem=")}, []string{at("4") + "Bad resource requirement syntax in RES_REQ of queue q; ignored"}, false},
		{"RSV-25", []Named{queue(""), {"lsb.resources", "Begin ReservationUsage\nRESOURCE METHOD\nmem PER_SLOT\nnosuch PER_JOB\nlicenseX PER_YEAR\nlicenseX PER_TASK\nEnd ReservationUsage"}, {"lsf.shared", licences}}, []string{
			"File lsb.resources in section ReservationUsage ending at line 7: built-in resource mem cannot be configured in ReservationUsage; ignored",
			"File lsb.resources in section ReservationUsage ending at line 7: resource nosuch in ReservationUsage is not a numeric consumable resource; ignored",
			"File lsb.resources in section ReservationUsage ending at line 7: unknown METHOD PER_YEAR for resource licenseX; ignored",
		}, false},
		{"NUMJOBS", []Named{queue(""), {"lsf.conf", "LSB_TIME_RESERVE_NUMJOBS=none\nLSF_LOGDIR=/x"}}, []string{"File lsf.conf: LSB_TIME_RESERVE_NUMJOBS none is not a positive integer; ignored"}, false},
		{"keyword", []Named{queue("NICE = 20")}, []string{at("4") + "unknown keyword NICE; ignored"}, false},
		{"End", []Named{{"lsb.queues", "Begin Queue\nQUEUE_NAME = q\n"}}, []string{at("2") + "End Queue is missing"}, true},
		{"RSV-56", []Named{{"lsb.queues", "Begin Queue\nPRIORITY = 3\nEnd Queue\n"}}, []string{at("3") + "Begin Queue without QUEUE_NAME", "File lsb.queues: no queue is defined"}, true},
		{"none", []Named{{"lsb.queues", "# nothing\n"}}, []string{"File lsb.queues: no queue is defined"}, true},
		{"all at once", []Named{{"lsb.queues", "Begin Queue\nPRIORITY = 3\nEnd Queue\n"}, {"lsb.params", "Begin Parameters\nMBD_SLEEP_TIME = 0x10\n"}, {"lsf.conf", "LSF_STRICT_RESREQ=maybe"}}, []string{
			"File lsf.conf: LSF_STRICT_RESREQ is maybe, expected Y or N; ignored",
			"File lsb.params in section Parameters ending at line 2: End Parameters is missing",
			"File lsb.params in section Parameters ending at line 2: MBD_SLEEP_TIME is 0x10, expected a positive number; ignored",
			at("3") + "Begin Queue without QUEUE_NAME", "File lsb.queues: no queue is defined",
		}, true},
		{"units", []Named{queue(""), {"lsb.params", "Begin Parameters\nCOMPUTE_UNIT_TYPES = enc rack\nEnd Parameters"}, {"lsb.hosts", "Begin ComputeUnit\nNAME TYPE MEMBER\na enc (b)\nb enc (a)\nc row (h)\nEnd ComputeUnit"}}, []string{
			"File lsb.hosts in section ComputeUnit ending at line 6: type row of compute unit c is not in COMPUTE_UNIT_TYPES of lsb.params; ignored",
			"File lsb.hosts: compute unit a is, through its members, a member of itself, or units are deeper than there are types; ignored",
			"File lsb.hosts: compute unit b is, through its members, a member of itself, or units are deeper than there are types; ignored",
		}, false},
		{"groups", []Named{queue("HOSTS = a+1 b!"), {"lsb.hosts", "Begin HostGroup\nGROUP_NAME GROUP_MEMBER CONDENSE\na (h) Y\na (i) ()\nall (h) ()\nb () ()\nc (c h) ()\nd (h+1) ()\nEnd HostGroup"}}, []string{
			"File lsb.hosts in section HostGroup ending at line 9: unknown keyword CONDENSE; ignored",
			"File lsb.hosts in section HostGroup ending at line 9: host group a is there twice; ignored",
			"File lsb.hosts in section HostGroup ending at line 9: GROUP_NAME is all, expected the name of a group; ignored",
			"File lsb.hosts in section HostGroup ending at line 9: a host group without GROUP_NAME or GROUP_MEMBER; ignored",
			"File lsb.hosts in section HostGroup ending at line 9: GROUP_MEMBER of host group c is c h, expected hosts and other groups, all, and ~name for those that are none; ignored",
			"File lsb.hosts in section HostGroup ending at line 9: GROUP_MEMBER of host group d is h+1, expected hosts and other groups, all, and ~name for those that are none; ignored",
			at("4") + "HOSTS of queue q: b!: expected a host, a host group, all or others, with ~ before it or +N behind it; ignored",
		}, false},
		{"no number", []Named{queue("QJOB_LIMIT = x\nUJOB_LIMIT = 3\nUJOB_LIMIT = 4\nHJOB_LIMIT = -\nBACKFILL = maybe"), {"lsb.hosts", "Begin Host\nHOST_NAME MXJ JL/U\nhosta x y\nhosta 1 1\nEnd Host"}}, []string{
			"File lsb.hosts in section Host ending at line 5: MXJ is x, expected a number from 0 on; ignored",
			"File lsb.hosts in section Host ending at line 5: JL/U is y, expected a number from 0 on; ignored",
			"File lsb.hosts in section Host ending at line 5: host hosta is there twice; ignored",
			at("8") + "keyword UJOB_LIMIT is there twice; the last one counts",
			at("8") + "QJOB_LIMIT is x, expected a number from 0 on; ignored",
			at("8") + "BACKFILL is maybe, expected Y or N; ignored",
		}, false},
		{"consumers", []Named{queue(""), {"lsb.resources", "Begin Limit\nNAME = a\nUSERS = (u1\nSLOTS = 1\nEnd Limit\nBegin Limit\nNAME = b\nQUEUES = q nosuch\nSLOTS = x\nSLOTS_PER_PROCESSOR = 1\nRESOURCE = [it,3] [swap, 4G][mem,5x] tmp,3\nEnd Limit"}}, []string{
			"File lsb.resources in section Limit ending at line 5: USERS is (u1, expected names, all and ~name; ignored",
			"File lsb.resources in section Limit ending at line 5: limit a has no consumers that can be read; ignored",
			"File lsb.resources in section Limit ending at line 12: SLOTS is x, expected a number from 0 on; ignored",
			"File lsb.resources in section Limit ending at line 12: resource it of a limit is not a numeric consumable resource; ignored",
			"File lsb.resources in section Limit ending at line 12: the limit of mem is 5x, expected a number; ignored",
			"File lsb.resources in section Limit ending at line 12: RESOURCE is [it,3] [swap, 4G][mem,5x] tmp,3, expected [resource,amount]; ignored",
			"File lsb.resources in section Limit ending at line 12: SLOTS_PER_PROCESSOR without PER_HOST or HOSTS; ignored",
			"File lsb.resources: limit b is for queue nosuch, which is no queue",
		}, false},
		{"resources", []Named{
			queue(""),
			{"lsf.conf", "LSF_LOGDIR=/x\nrubbish"},
			{"lsf.shared", "Begin Resource\nRESOURCENAME TYPE INTERVAL CONSUMABLE RELEASE\nx Numeric 5m maybe maybe\nEnd Resource"},
			{"lsf.cluster", "Begin ResourceMap\nRESOURCENAME LOCATION\nx (2@[h1 h2] 3@[others] 4@[h2])\nx (5@[all])\nEnd ResourceMap"},
		}, []string{
			`File lsf.conf: line 2 is "rubbish", expected NAME=value; ignored`,
			"File lsf.shared in section Resource ending at line 4: INTERVAL is 5m, expected a positive number; ignored",
			"File lsf.shared in section Resource ending at line 4: CONSUMABLE is maybe, expected Y or N; ignored",
			"File lsf.shared in section Resource ending at line 4: RELEASE is maybe, expected Y or N; ignored",
			"File lsf.cluster in section ResourceMap ending at line 5: [h2] of resource x is for hosts that another instance is for, too; of each host the first counts",
			"File lsf.cluster in section ResourceMap ending at line 5: [all] of resource x is for hosts that another instance is for, too; of each host the first counts",
		}, false},
		{"circles", []Named{queue("HOSTS = c"), {"lsb.hosts", "Begin HostGroup\nGROUP_NAME GROUP_MEMBER\na (b ~h)\nb (c a)\nc (h)\nd (a)\nEnd HostGroup"}}, []string{
			"File lsb.hosts: host group a is, through its members, a member of itself; ignored",
			"File lsb.hosts: host group b is, through its members, a member of itself; ignored",
		}, false},
		{"contradiction", []Named{queue("RUNLIMIT = 60 30\nmem = 20/100\nPRIORITY = high")}, []string{
			at("6") + "RUNLIMIT is 60 30, expected a default that is not above the maximum; ignored",
			at("6") + "mem is 20/100, expected a loadStop that is more load than loadSched; ignored",
			at("6") + "Illegal attribute or resource value Priority: Priority of queue q is high; ignored",
		}, false},
	} {
		_, problems := Read(FilesOf(c.files...), Known{})
		if got := texts(problems); !slices.Equal(got, c.want) || Fatal(problems) != c.fatal {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// Host groups, and what a queue says of them, are the same when they are written and read again.
func TestRead_HostGroups(t *testing.T) {
	c, problems := Read(FilesOf(
		Named{"lsb.queues", "Begin Queue\nQUEUE_NAME = q\nHOSTS = fast ~ h2\nEnd Queue\n"},
		Named{"lsb.hosts", "Begin HostGroup\nGROUP_NAME GROUP_MEMBER\nfast (h1 h2)\nmost (all ~fast)\nEnd HostGroup\n"},
	), Known{})
	want := []lsf.HostGroup{{Name: "fast", Members: []string{"h1", "h2"}}, {Name: "most", Members: []string{"all", "~fast"}}}
	if len(problems) > 0 || !reflect.DeepEqual(c.Config.HostGroups, want) {
		t.Fatal(c.Config.HostGroups, texts(problems))
	}
	again, problems := Read(FilesOf(Dump(c)...), Known{})
	hosts, _ := again.Queues[0].Attrs.Get(lsf.QueueHosts, "")
	if len(problems) > 0 || !reflect.DeepEqual(again.Config.HostGroups, want) || hosts != "fast,~h2" {
		t.Errorf("read again: %+v, %q, %v", again.Config.HostGroups, hosts, texts(problems))
	}
}

// Types of compute units are resources of hosts, whose values are the units that these are in; written and read again they are the same.
func TestRead_Units(t *testing.T) {
	c, problems := Read(FilesOf(
		Named{"lsb.queues", "Begin Queue\nQUEUE_NAME = q\nRES_REQ = cu[type=rack:maxcus=1]\nEnd Queue\n"},
		Named{"lsb.params", "Begin Parameters\nCOMPUTE_UNIT_TYPES = enc rack!\nEnd Parameters\n"},
		Named{"lsb.hosts", "Begin ComputeUnit\nNAME TYPE MEMBER\ne1 enc (h1 h2)\ne2 enc (h3)\nr1 rack (e1 e2)\nEnd ComputeUnit\n"},
	), Known{})
	if len(problems) > 0 {
		t.Fatal(texts(problems))
	}
	want := []lsf.Instance{{Resource: "enc", Value: "e1", Hosts: []string{"h1", "h2"}}, {Resource: "enc", Value: "e2", Hosts: []string{"h3"}}, {Resource: "rack", Value: "r1", Hosts: []string{"h1", "h2", "h3"}}}
	if !reflect.DeepEqual(c.Config.Instances, want) || len(c.Resources) != 2 || c.Resources[0].Name != "enc" || !c.Resources[0].AtHost() {
		t.Errorf("%+v, %+v", c.Config.Instances, c.Resources)
	}
	again, problems := Read(FilesOf(Dump(c)...), Known{})
	if len(problems) > 0 || !reflect.DeepEqual(again.Config.Instances, want) || !reflect.DeepEqual(again.Config.Units, c.Config.Units) {
		t.Errorf("read again: %+v, %v", again.Config, texts(problems))
	}
	_, problems = Read(FilesOf(Named{"lsb.queues", "Begin Queue\nQUEUE_NAME = q\nEnd Queue\n"}, Named{"lsb.params", "Begin Parameters\nCOMPUTE_UNIT_TYPES = host\nEnd Parameters\n"}), Known{})
	if len(problems) != 1 || !strings.Contains(texts(problems)[0], `"host" cannot be a type of compute units`) {
		t.Errorf("%q", texts(problems))
	}
}

// What is told of as ignored changes nothing: a bound that is no number is none, and not 0.
func TestRead_IgnoredIsNotSaid(t *testing.T) {
	read := func(values bool) Configuration {
		of := func(text string) string {
			if values {
				return text
			}
			return "()"
		}
		c, problems := Read(FilesOf(
			Named{"lsf.shared", "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING CONSUMABLE RELEASE\nx Numeric " + of("5m") + " " + of("maybe") + " " + of("maybe") + " " + of("maybe") + "\nEnd Resource"},
			Named{"lsb.params", "Begin Parameters\nMBD_SLEEP_TIME = " + of("30s") + "\nJOB_ACCEPT_INTERVAL = " + of("-1") + "\nPG_SUSP_IT = " + of("3m") + "\nRESOURCE_RESERVE_PER_SLOT = " + of("1") + "\nEnd Parameters"},
			Named{"lsb.hosts", "Begin Host\nHOST_NAME MXJ JL/U r1m\nhosta " + of("4x") + " " + of("-2") + " " + of("1/x") + "\nEnd Host"},
			Named{"lsb.queues", "Begin Queue\nQUEUE_NAME = q\nQJOB_LIMIT = " + of("4x") + "\nUJOB_LIMIT = " + of("-1") + "\nPJOB_LIMIT = " + of("x") + "\nHJOB_LIMIT = " + of("1.5") + "\nmem = " + of("5/NaN") + "\nEnd Queue"},
			Named{"lsb.resources", "Begin Limit\nNAME = l\nSLOTS = " + of("10%") + "\nMEM = 5\nSWP = " + of("NaN") + "\nEnd Limit"},
		), Known{})
		if told := len(problems); told != 0 && !values || told != 18 && values {
			t.Errorf("%d problems:\n%s", told, strings.Join(texts(problems), "\n"))
		}
		return c
	}
	if a, b := read(true), read(false); !reflect.DeepEqual(a, b) {
		t.Errorf("%+v, want as without the values\n%+v", a, b)
	}
}

// Units that have each other's members many times over are read as fast as others.
func TestRead_DeepUnits(t *testing.T) {
	types, rows := "", ""
	for i := range 40 {
		types += fmt.Sprintf(" t%d", i)
		for k := range 3 {
			members := "h"
			if i > 0 {
				members = fmt.Sprintf("u%d_0 u%d_1 u%d_2", i-1, i-1, i-1)
			}
			rows += fmt.Sprintf("u%d_%d t%d (%s)\n", i, k, i, members)
		}
	}
	c, problems := Read(FilesOf(
		Named{"lsb.queues", "Begin Queue\nQUEUE_NAME = q\nEnd Queue\n"},
		Named{"lsb.params", "Begin Parameters\nCOMPUTE_UNIT_TYPES =" + types + "\nEnd Parameters\n"},
		Named{"lsb.hosts", "Begin ComputeUnit\nNAME TYPE MEMBER\n" + rows + "End ComputeUnit\n"},
	), Known{})
	if len(problems) > 0 || len(c.Config.Units) != 120 || !slices.Equal(c.Config.Instances[119].Hosts, []string{"h"}) {
		t.Errorf("%d units, %v", len(c.Config.Units), texts(problems))
	}
}

func TestRead_Forms(t *testing.T) {
	c, problems := Read(FilesOf(
		Named{"lsb.queues", "begin queue # of the site\nqueue_name = q\nDESCRIPTION = one \\\n  and two\nRUNLIMIT = 1:30\nQJOB_LIMIT = 4\nUJOB_LIMIT = 2\nEnd\n" +
			"Begin Queue\nQUEUE_NAME  PRIORITY  HOSTS\nr  7  (hostA ~hostB)\ns  8  ()\nEnd Queue\n"},
		Named{"lsf.shared", licences},
		Named{"lsf.cluster", "Begin ResourceMap\nRESOURCENAME LOCATION\nlicenseX (10@[all])\nlicenseY (2@[hostA hostB] 4.5@[others])\nbandwidth [default]\nEnd ResourceMap\n"},
		Named{"lsb.hosts", "Begin Host\nHOST_NAME MXJ JL/U cpu mem\nhostA 4 2 () ()\ndefault ! - 3.5/4.5 100/20\nEnd Host\n"},
	), Known{Queues: []pbs.QueueName{"workq"}})
	if len(texts(problems)) > 0 {
		t.Errorf("%s", strings.Join(texts(problems), "\n"))
	}
	get := func(i int, name, resource string) string {
		value, _ := c.Queues[i].Attrs.Get(name, resource)
		return value
	}
	if len(c.Queues) != 3 || get(0, "comment", "") != "one and two" || get(0, "resources_max", "walltime") != "01:30:00" ||
		get(0, "max_run_res", "ncpus") != "[o:PBS_ALL=4],[u:PBS_GENERIC=2]" || get(0, "backfill", "") != "False" || get(1, "lsf_hosts", "") != "hostA,~hostB" || get(2, "Priority", "") != "8" {
		t.Errorf("%+v", c.Queues)
	}
	if value, _ := c.Server.Get("resources_available", "licenseX"); value != "10" {
		t.Errorf("licenseX: %s", value)
	}
	if i := c.Config.Instances; len(i) != 4 || i[2].Value != "4.5" || i[3].Value != "" || !slices.Equal(i[1].Hosts, []string{"hostA", "hostB"}) {
		t.Errorf("%+v", i)
	}
	if d := c.Resources; d[0].Flags != resource.PerQueue || d[1].Flags != resource.AtHost|resource.PerVnode || d[3].Type != resource.Boolean {
		t.Errorf("%+v", d)
	}
	if h := c.Config.Host("hostA"); *h.Slots != 4 || *h.UserSlots != 2 || len(h.Thresholds) != 0 {
		t.Errorf("hostA %+v", h)
	}
	if h := c.Config.Host("other"); h.Slots != nil || len(h.Thresholds) != 2 || h.Thresholds[0].String() != "mem=100/20" || h.Thresholds[1].String() != "r1m=3.5/4.5" {
		t.Errorf("others %+v", h)
	}
}

func FuzzRead(f *testing.F) {
	dir := filepath.Join("..", "..", "..", "docs", "examples", "lsf")
	for i, name := range fileNames {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, string(text))
	}
	f.Fuzz(func(t *testing.T, at int, text string) {
		name := fileNames[(at%len(fileNames)+len(fileNames))%len(fileNames)]
		c, problems := Read(FilesOf(Named{"lsf.shared", licences}, Named{name, text}), Known{})
		for _, p := range problems {
			if p.Text == "" || p.Path == "" {
				t.Errorf("%+v", p)
			}
		}
		if Fatal(problems) {
			return
		}
		again, _ := Read(FilesOf(Dump(c)...), Known{})
		if len(again.Queues) != len(c.Queues) || len(again.Config.Resources) != len(c.Config.Resources) {
			t.Errorf("dumped and read again: %+v, was %+v", again, c)
		}
	})
}

var fileNames = []string{"lsf.conf", "lsf.shared", "lsf.cluster", "lsb.params", "lsb.hosts", "lsb.queues", "lsb.resources", "lsb.modules", "lsb.applications"}

func byName(a, b lsf.Host) int { return strings.Compare(a.Name, b.Name) }
