package rusage

import (
	"math"
	"math/big"
	"testing"

	"rampart/fsm/resreq"
)

const megabyte = resreq.Megabyte

var site = resreq.Site{Resources: map[string]resreq.Resource{
	"licenseX":  {Name: "licenseX", Kind: resreq.Numeric, Consumable: true, Shared: true},
	"licenseY":  {Name: "licenseY", Kind: resreq.Numeric, Consumable: true, Shared: true},
	"licenseZ":  {Name: "licenseZ", Kind: resreq.Numeric, Consumable: true, Shared: true},
	"licenseW":  {Name: "licenseW", Kind: resreq.Numeric, Consumable: true, Shared: true},
	"bandwidth": {Name: "bandwidth", Kind: resreq.Numeric, Consumable: true, Shared: true, Dynamic: true, Increasing: true},
	"floating":  {Name: "floating", Kind: resreq.Numeric, Consumable: true, Shared: true, Dynamic: true},
	"console":   {Name: "console", Kind: resreq.Numeric, Consumable: true},
	"raising":   {Name: "raising", Kind: resreq.Numeric, Consumable: true, Increasing: true},
	"bigmem":    {Name: "bigmem", Kind: resreq.Boolean},
	"fixed":     {Name: "fixed", Kind: resreq.Numeric},
}}

func usage(t *testing.T, text string) resreq.Usage {
	t.Helper()
	r, err := resreq.Parse("rusage["+text+"]", site)
	if err != nil {
		t.Fatal(err)
	}
	return r.Terms[0].Rusage[0]
}

func pool(t *testing.T, resource string, current resreq.Amount, hosts ...string) Pool {
	t.Helper()
	r, ok := site.Resource(resource)
	if !ok {
		t.Fatalf("there is no %s", resource)
	}
	p := Pool{Resource: r, Current: current, Hosts: map[string]bool{}}
	for _, h := range hosts {
		p.Hosts[h] = true
	}
	return p
}

// What a job holds as it runs, and what bhosts shows of it: the worked example of the chapter and
// the cases of duration and decay.
func TestHeldAsAJobRuns(t *testing.T) {
	for _, c := range []struct {
		name, usage     string
		ran             int64
		held            string // exactly
		total, reserved int64  // in whole megabytes
	}{
		{"RSV-14 T0", "tmp=30:duration=30:decay=1", 0, "30", 881, 30},
		{"RSV-14 +60", "tmp=30:duration=30:decay=1", 60, "29", 882, 29},
		{"RSV-14 +600", "tmp=30:duration=30:decay=1", 600, "20", 891, 20},
		{"10:15:30", "tmp=30:duration=30:decay=1", 930, "14.5", 896, 14},
		{"RSV-14 +1740", "tmp=30:duration=30:decay=1", 1740, "1", 910, 1},
		{"RSV-14 +1800", "tmp=30:duration=30:decay=1", 1800, "0", 911, 0},
		{"long after", "tmp=30:duration=30:decay=1", math.MaxInt64, "0", 911, 0},
		{"before the start", "tmp=30:duration=30:decay=1", -5, "30", 881, 30},
		{"RSV-15 +1799", "tmp=30:duration=30:decay=0", 1799, "30", 881, 30},
		{"RSV-15 +1800", "tmp=30:duration=30:decay=0", 1800, "0", 911, 0},
		{"RSV-16 30m", "tmp=30:duration=30m:decay=1", 600, "20", 891, 20},
		{"RSV-16 1800s", "tmp=30:duration=1800s:decay=1", 600, "20", 891, 20},
		{"RSV-16 1h", "tmp=30:duration=1h:decay=1", 600, "25", 886, 25},
		{"RSV-16 60", "tmp=30:duration=60:decay=1", 600, "25", 886, 25},
		// Suspended from 600 to 1200: it has run for 600 seconds until then, and for 1200 at 1800.
		{"RSV-18 T0+1199", "tmp=30:duration=30:decay=1", 600, "20", 891, 20},
		{"RSV-18 T0+1800", "tmp=30:duration=30:decay=1", 1200, "10", 901, 10},
		{"RSV-18 T0+2400", "tmp=30:duration=30:decay=1", 1800, "0", 911, 0},
		{"for life", "tmp=30", 1 << 40, "30", 881, 30},
		{"decay alone", "tmp=30:decay=1", 1 << 40, "30", 881, 30},
	} {
		job := Job{Usage: usage(t, c.usage), Shares: []Share{{"hostA", 1}}, Ran: c.ran}
		p := Rules{}.Reserve(pool(t, "tmp", 911*megabyte, "hostA"), job)
		if p.Reserved.Print("tmp") != c.held || p.Available().Whole("tmp") != c.total || p.Reserved.Whole("tmp") != c.reserved {
			t.Errorf("%s: %s held, %dM/%dM", c.name, p.Reserved.Print("tmp"), p.Available().Whole("tmp"), p.Reserved.Whole("tmp"))
		}
	}
}

// What a suspended job has released it does not hold.
func TestHeldWhileSuspended(t *testing.T) {
	job := Job{Usage: usage(t, "tmp=30:mem=5"), Shares: []Share{{"hostA", 1}}, Ran: 600, Released: []string{"ncpus", "tmp"}}
	if held := (Rules{}).Held(job, pool(t, "tmp", 0, "hostA")); held != 0 {
		t.Errorf("tmp: %d", held)
	}
	if held := (Rules{}).Held(job, pool(t, "mem", 0, "hostA")); held != 5*megabyte {
		t.Errorf("mem: %d", held)
	}
}

// RSV-19, and what else durations do not end: what a section Limit counts, but not dynamic shared
// resources and not those of one host.
func TestHeldForLife(t *testing.T) {
	limited := Rules{Limited: map[string]bool{"mem": true}}
	for _, c := range []struct {
		rules    Rules
		resource string
		ran      int64
		want     string
	}{
		{Rules{}, "licenseX", 0, "3"},
		{Rules{}, "licenseX", 120, "3"},
		{Rules{}, "floating", 0, "3"},
		{Rules{}, "floating", 120, "0"},
		{Rules{}, "console", 120, "0"},
		{Rules{}, "mem", 120, "0"},
		{limited, "mem", 120, "3"},
		{limited, "swp", 120, "0"},
	} {
		p := pool(t, c.resource, 10*resreq.One, "hostA", "hostB")
		job := Job{Usage: usage(t, c.resource+"=3:duration=1"), Shares: []Share{{"hostA", 1}}, Ran: c.ran}
		if got := c.rules.Held(job, p).Print(c.resource); got != c.want {
			t.Errorf("%s after %d: %s, want %s", c.resource, c.ran, got, c.want)
		}
	}
	x := Rules{}.Reserve(pool(t, "licenseX", 10*resreq.One, "hostA", "hostB"), Job{Usage: usage(t, "licenseX=3:duration=1"), Shares: []Share{{"hostA", 1}}, Ran: 120})
	if x.Available() != 7*resreq.One || x.Reserved != 3*resreq.One {
		t.Errorf("TOTAL %d RESERVED %d", x.Available(), x.Reserved)
	}
}

// RSV-32: a pending job asks for the whole, whatever its duration and decay.
func TestNeededByAPendingJob(t *testing.T) {
	got := Rules{}.Needed(usage(t, "mem=400:duration=1:decay=1"), []Share{{"hostA", 1}}, pool(t, "mem", 0, "hostA"))
	if got != 400*megabyte {
		t.Errorf("%d", got)
	}
}

// The methods, by the cases and the example of the chapter: a job of four slots on two hosts.
func TestMethods(t *testing.T) {
	rows := map[string]Method{}
	for resource, name := range map[string]string{"licenseX": "PER_JOB", "licenseY": "PER_HOST", "licenseZ": "PER_SLOT"} {
		m, err := ReadRow(resource, name, site)
		if err != nil || m.String() != name {
			t.Fatalf("%s: %s, %v", resource, m, err)
		}
		rows[resource] = m
	}
	both := []Share{{"hostA", 2}, {"hostB", 2}}
	for _, c := range []struct {
		name     string
		perSlot  bool
		resource string
		hosts    []string
		amount   string
		want     string
	}{
		{"RSV-21", false, "licenseX", []string{"hostA", "hostB"}, "1", "1"},
		{"RSV-21", false, "licenseY", []string{"hostA", "hostB"}, "1", "2"},
		{"RSV-21", false, "licenseZ", []string{"hostA", "hostB"}, "1", "4"},
		{"RSV-21", false, "mem", []string{"hostA"}, "50", "50"},
		{"RSV-21", false, "mem", []string{"hostB"}, "50", "50"},
		{"RSV-22", true, "licenseX", []string{"hostA", "hostB"}, "1", "1"},
		{"RSV-22", true, "licenseY", []string{"hostA", "hostB"}, "1", "2"},
		{"RSV-22", true, "licenseZ", []string{"hostA", "hostB"}, "1", "4"},
		{"RSV-22", true, "mem", []string{"hostA"}, "50", "100"},
		{"RSV-22", true, "mem", []string{"hostB"}, "50", "100"},
		{"RSV-23 N", false, "licenseW", []string{"hostA", "hostB"}, "1", "1"},
		{"RSV-23 Y", true, "licenseW", []string{"hostA", "hostB"}, "1", "4"},
		{"an instance of some hosts", false, "licenseZ", []string{"hostB", "hostC"}, "1.5", "3"},
		{"an instance of some hosts", false, "licenseY", []string{"hostB", "hostC"}, "1.5", "1.5"},
		{"an instance of others", false, "licenseX", []string{"hostC"}, "1", "0"},
		{"an instance of others", true, "licenseW", []string{"hostC"}, "1", "0"},
	} {
		r := Rules{Methods: Methods{rows, c.perSlot}}
		got := r.Needed(usage(t, c.resource+"="+c.amount), both, pool(t, c.resource, 0, c.hosts...)).Print(c.resource)
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.name, c.resource, got, c.want)
		}
	}
	// RSV-33: four slots of 100M each on one host.
	perSlot := Rules{Methods: Methods{PerSlot: true}}
	if got := perSlot.Needed(usage(t, "mem=100"), []Share{{"hostA", 4}}, pool(t, "mem", 0, "hostA")); got != 400*megabyte {
		t.Errorf("RSV-33: %d", got)
	}
	// A row of a built-in resource would say nothing.
	mem, _ := site.Resource("mem")
	if m := (Methods{Rows: map[string]Method{"mem": PerSlot}}).Of(mem); m != PerJob {
		t.Errorf("mem: %s", m)
	}
}

func TestReadRow(t *testing.T) {
	for _, c := range []struct{ resource, method, want string }{
		{"licenseX", "PER_TASK", "PER_SLOT"},
		{"mem", "PER_SLOT", "built-in resource mem cannot be configured in ReservationUsage; ignored"}, // RSV-25
		{"swap", "PER_SLOT", "built-in resource swap cannot be configured in ReservationUsage; ignored"},
		{"bigmem", "PER_JOB", "resource bigmem in ReservationUsage is not a numeric consumable resource; ignored"},
		{"fixed", "PER_JOB", "resource fixed in ReservationUsage is not a numeric consumable resource; ignored"},
		{"nosuch", "PER_JOB", "resource nosuch in ReservationUsage is not a numeric consumable resource; ignored"},
		{"licenseX", "PER_DAY", "unknown METHOD PER_DAY for resource licenseX; ignored"},
		{"licenseX", "", "unknown METHOD  for resource licenseX; ignored"},
	} {
		m, err := ReadRow(c.resource, c.method, site)
		got := m.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.resource, c.method, got, c.want)
		}
	}
	if got := Method(9).String(); got != "?" {
		t.Errorf("%s", got)
	}
}

// What fits beside what is held, and of which resource there is too little.
func TestShort(t *testing.T) {
	one := []Share{{"hostA", 1}}
	two := []Share{{"hostA", 2}, {"hostB", 2}}
	for _, c := range []struct {
		name    string
		pools   []Pool
		running string
		ran     int64
		asked   string
		shares  []Share
		short   string
	}{
		// The example of the chapter: of 150M of swap 100M are reserved for 30 minutes.
		{"RSV-17 b", []Pool{pool(t, "swp", 150*megabyte, "hostA")}, "swp=100:duration=30", 0, "swp=51", one, "swp"},
		{"RSV-17 c", []Pool{pool(t, "swp", 150*megabyte, "hostA")}, "swp=100:duration=30", 0, "swp=50", one, ""},
		{"during the time", []Pool{pool(t, "swp", 150*megabyte, "hostA")}, "swp=100:duration=30", 1799, "swp=51", one, "swp"},
		{"after the time", []Pool{pool(t, "swp", 150*megabyte, "hostA")}, "swp=100:duration=30", 1800, "swp=51", one, ""},
		{"RSV-27", []Pool{pool(t, "mem", 1000*megabyte, "hostA")}, "mem=1000", 40, "mem=150", one, "mem"},
		{"RSV-47 y", []Pool{pool(t, "licenseX", resreq.One, "hostA", "hostB")}, "licenseX=1", 0, "licenseX=1", two, "licenseX"},
		{"the first that is short", []Pool{pool(t, "mem", 0, "hostA"), pool(t, "swp", 0, "hostA")}, "tmp=1", 0, "swp=1:mem=1", one, "swp"},
		{"one host of two", []Pool{pool(t, "mem", 100*megabyte, "hostA"), pool(t, "mem", 10*megabyte, "hostB")}, "tmp=1", 0, "mem=50", two, "mem"},
		{"a host that is not the job's", []Pool{pool(t, "mem", 100*megabyte, "hostA"), pool(t, "mem", 0, "hostB")}, "tmp=1", 0, "mem=50", one, ""},
		{"a host without the resource", []Pool{pool(t, "licenseX", resreq.One, "hostA")}, "tmp=1", 0, "licenseX=1", two, "licenseX"},
		{"nothing of what is not there", nil, "tmp=1", 0, "licenseX=0", one, ""},
		{"nothing of what is overdrawn", []Pool{pool(t, "mem", -megabyte, "hostA")}, "tmp=1", 0, "mem=0", one, ""},
		{"an index that rises", []Pool{pool(t, "bandwidth", 2500, "hostA")}, "bandwidth=100", 0, "bandwidth=1000", one, ""},
	} {
		pools := make([]Pool, len(c.pools))
		for i, p := range c.pools {
			pools[i] = Rules{}.Reserve(p, Job{Usage: usage(t, c.running), Shares: one, Ran: c.ran})
		}
		if got, short := (Rules{}).Short(usage(t, c.asked), c.shares, pools); got != c.short || short != (c.short != "") {
			t.Errorf("%s: %q, %v", c.name, got, short)
		}
	}
}

// RSV-08 and RSV-09: of alternatives the first that fits is what is reserved.
func TestAlternatives(t *testing.T) {
	r, err := resreq.Parse("rusage[mem=20||mem=10:swp=20]", site)
	if err != nil {
		t.Fatal(err)
	}
	for mem, want := range map[resreq.Amount]string{15: "mem=10:swp=20", 25: "mem=20", 5: ""} {
		pools := []Pool{pool(t, "mem", mem*megabyte, "hostA"), pool(t, "swp", 100*megabyte, "hostA")}
		got := ""
		for _, u := range r.Terms[0].Rusage {
			if _, short := (Rules{}).Short(u, []Share{{"hostA", 1}}, pools); !short {
				got = u.String()
				break
			}
		}
		if got != want {
			t.Errorf("%dM: %s, want %s", mem, got, want)
		}
	}
}

// loaded is a host with one index.
type loaded struct{ Pool }

func (l loaded) Value(resource string) (resreq.Value, bool) {
	return resreq.Value{Number: l.Available().Shown(resource)}, resource == l.Resource.Name
}

// RSV-20: what rises with the load is no test of its own, but conditions see the raised value.
func TestIncreasing(t *testing.T) {
	r, err := resreq.Parse("select[r1m<1.0] rusage[r1m=0.5]", site)
	if err != nil {
		t.Fatal(err)
	}
	job := Job{Usage: r.Terms[0].Rusage[0], Shares: []Share{{"hostA", 1}}}
	p := pool(t, "r1m", 400, "hostA")
	var started []bool
	for range 3 {
		starts := r.Terms[0].Select.Holds(loaded{p}, "")
		if started = append(started, starts); starts {
			p = Rules{}.Reserve(p, job)
		}
	}
	if !started[0] || !started[1] || started[2] || p.Available().Print("r1m") != "1.4" || p.Reserved.Print("r1m") != "1" {
		t.Errorf("%v, Total %s, Reserved %s", started, p.Available().Print("r1m"), p.Reserved.Print("r1m"))
	}
	// What is static is taken of, whatever its direction.
	if p := (Rules{}).Reserve(pool(t, "raising", 5000, "hostA"), Job{Usage: usage(t, "raising=2"), Shares: []Share{{"hostA", 1}}}); p.Available() != 3000 {
		t.Errorf("raising: %d", p.Available())
	}
}

// RSV-34: what a host reports counts, not its total.
func TestShort_Reported(t *testing.T) {
	for _, c := range []struct {
		report resreq.Amount
		short  bool
	}{{300, true}, {380, true}, {400, false}} {
		p := pool(t, "mem", c.report*megabyte, "hostA")
		if _, short := (Rules{}).Short(usage(t, "mem=400"), []Share{{"hostA", 1}}, []Pool{p}); short != c.short {
			t.Errorf("RSV-34 at %dM: %v", c.report, short)
		}
	}
}

// No sum and no product turns round.
func TestLargest(t *testing.T) {
	const most = math.MaxInt64
	hosts := map[string]bool{"a": true, "b": true}
	if got := PerHost.Amount(most, []Share{{"a", 1}, {"b", 1}}, hosts); got != most {
		t.Errorf("PER_HOST: %d", got)
	}
	if got := PerSlot.Amount(1, []Share{{"a", -3}, {"b", 2}}, hosts); got != 2 {
		t.Errorf("PER_SLOT: %d", got)
	}
	if got := PerJob.Amount(-1, []Share{{"a", 1}}, hosts); got != 0 {
		t.Errorf("less than nothing: %d", got)
	}
	p := pool(t, "bandwidth", most, "a")
	p.Reserved = most
	if got := p.Available(); got != most {
		t.Errorf("raised: %d", got)
	}
	p = pool(t, "mem", math.MinInt64, "a")
	p.Reserved = most
	if got := p.Available(); got != math.MinInt64 {
		t.Errorf("overdrawn: %d", got)
	}
}

func FuzzHeld(f *testing.F) {
	f.Add(int64(30*megabyte), int64(1800), int64(930), true)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(1), true)
	f.Add(int64(-1), int64(-1), int64(-1), false)
	f.Add(int64(7), int64(3), int64(2), true)
	f.Fuzz(func(t *testing.T, amount, duration, ran int64, decay bool) {
		want := big.NewInt(max(amount, 0))
		if t := max(ran, 0); duration > 0 && t >= duration {
			want.SetInt64(0)
		} else if duration > 0 && decay {
			want.Quo(want.Mul(want, big.NewInt(duration-t)), big.NewInt(duration))
		}
		if got := Held(resreq.Amount(amount), duration, decay, ran); int64(got) != want.Int64() {
			t.Fatalf("%d for %d, decay %v, after %d: %d, want %s", amount, duration, decay, ran, got, want)
		}
	})
}
