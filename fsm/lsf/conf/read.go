package conf

import (
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
)

// A File is one that was read.
type File struct{ Path, Text string }

// Files are the configuration files of a site; nil: it has no such file, and defaults apply.
type Files struct {
	Conf, Shared, Cluster, Params, Hosts, Queues, Resources, Modules, Applications *File
}

// slot returns where the file of a name belongs, nil if LSF has no such file.
func (f *Files) slot(name string) **File {
	switch name {
	case "lsf.conf":
		return &f.Conf
	case "lsf.shared":
		return &f.Shared
	case "lsf.cluster":
		return &f.Cluster
	case "lsb.params":
		return &f.Params
	case "lsb.hosts":
		return &f.Hosts
	case "lsb.queues":
		return &f.Queues
	case "lsb.resources":
		return &f.Resources
	case "lsb.modules":
		return &f.Modules
	case "lsb.applications":
		return &f.Applications
	}
	return nil
}

// FilesOf returns files that Dump has written; those of other names are left out.
func FilesOf(all ...Named) Files {
	var f Files
	for _, n := range all {
		if slot := f.slot(n.Name); slot != nil {
			*slot = &File{Path: n.Name, Text: n.Text}
		}
	}
	return f
}

// Known is what the cluster has beside the files.
type Known struct {
	Defs   []resource.Def  // resources that no earlier configuration has brought
	Queues []pbs.QueueName // of qmgr
}

// A Queue is what a file says of one.
type Queue struct {
	Name  string
	Attrs attr.List
}

// A Configuration is what the files say.
type Configuration struct {
	Config    lsf.Config
	Resources []resource.Def
	Queues    []Queue
	Server    attr.List
}

// A reader makes a configuration of files.
type reader struct {
	problems
	files Files
	known Known
	out   Configuration
	site  resreq.Site
	defs  []resource.Def

	factors map[string]lsf.Thousandths // of models of hosts
}

// Resource makes the reader a table of all resources that there will be.
func (r *reader) Resource(name string) (resource.Def, bool) {
	if i := slices.IndexFunc(r.defs, func(d resource.Def) bool { return d.Name == name }); i >= 0 {
		return r.defs[i], true
	}
	return resource.Lookup(name)
}

// Read reads all files, and tells all that is wrong with any of them.
func Read(files Files, known Known) (Configuration, []Problem) {
	r := &reader{files: files, known: known}
	r.mainFile()
	r.shared()
	r.params()
	r.modules()
	r.cluster()
	r.defs = append(slices.Clone(known.Defs), r.out.Resources...)
	r.site = r.out.Config.Site(r.defs)
	r.resources()
	r.hosts()
	r.applications()
	r.queues()
	return r.out, r.all
}

// each calls a function for each entry of the sections of a name, and tells of sections that mean nothing here.
func (r *reader) each(f *File, do map[string]func(section, entry), silent ...string) {
	for _, s := range sections(f, &r.problems) {
		at := -1
		for name := range do {
			if strings.EqualFold(name, s.name) {
				at = 0
				for _, e := range s.entries {
					do[name](s, e)
				}
			}
		}
		if at < 0 && !slices.ContainsFunc(silent, func(name string) bool { return strings.EqualFold(name, s.name) }) {
			r.warn(s, "unknown section %s; ignored", s.name)
		}
	}
}

// mainFile reads lsf.conf: of its many parameters those that mean something to a scheduler.
func (r *reader) mainFile() {
	f := r.files.Conf
	if f == nil {
		return
	}
	s := section{path: f.Path}
	for _, l := range lines(f.Text) {
		if _, _, ok := assignment(l.text); !ok {
			r.warn(s, "line %d is %q, expected NAME=value; ignored", l.at, l.text)
		}
	}
	for name, value := range Parameters(f.Text) {
		switch name {
		case "LSB_TIME_RESERVE_NUMJOBS":
			n, ok := positive(value)
			if !ok {
				r.warn(s, "LSB_TIME_RESERVE_NUMJOBS %s is not a positive integer; ignored", value)
			}
			r.out.Config.TimeReserveJobs = n
		case "LSF_STRICT_RESREQ":
			r.out.Config.Strict = r.yes(s, name, value, false)
		}
	}
}

// Parameters yields the lines NAME=value of lsf.conf.
func Parameters(text string) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for _, l := range lines(text) {
			name, value, ok := assignment(l.text)
			if ok && !yield(name, strings.Trim(value, `"'`)) {
				return
			}
		}
	}
}

func (r *reader) params() {
	c := &r.out.Config
	r.each(r.files.Params, map[string]func(section, entry){"Parameters": func(s section, e entry) {
		for _, x := range e {
			if x.value == "" {
				continue
			}
			switch strings.ToUpper(x.key) {
			case "MBD_SLEEP_TIME":
				c.SleepTime = r.positive(s, x)
			case "JOB_ACCEPT_INTERVAL":
				if n := r.count(s, x); n != nil {
					c.AcceptInterval = *n
				}
			case "PG_SUSP_IT":
				c.PagingIdle = r.count(s, x)
			case "RESOURCE_RESERVE_PER_SLOT", "RESOURCE_RESERVE_PER_TASK":
				c.PerSlot = r.yes(s, x.key, x.value, false)
			case "ABS_RUNLIMIT":
				c.AbsRunlimit = r.yes(s, x.key, x.value, false)
			case "DEFAULT_HOST_SPEC":
				c.HostSpec = x.value
			case "DEFAULT_APPLICATION":
				c.DefaultApplication = x.value
			case "COMPUTE_UNIT_TYPES":
				for _, t := range strings.Fields(x.value) {
					c.UnitTypes = append(c.UnitTypes, strings.TrimSuffix(t, "!"))
				}
			case "DEFAULT_QUEUE":
				r.out.Server = r.out.Server.Set("default_queue", "", strings.Fields(x.value)[0])
			default:
				r.unknown(s, x.key)
			}
		}
	}})
}

func (r *reader) modules() {
	r.each(r.files.Modules, map[string]func(section, entry){"PluginModule": func(s section, e entry) {
		for _, x := range e {
			switch strings.ToUpper(x.key) {
			case "SCH_PLUGIN":
				r.out.Config.Modules = append(r.out.Config.Modules, x.value)
			case "RB_PLUGIN", "SCH_DISABLE_PHASES":
			default:
				r.unknown(s, x.key)
			}
		}
	}})
}

func (r *reader) applications() {
	r.each(r.files.Applications, map[string]func(section, entry){"Application": func(s section, e entry) {
		a := lsf.Application{Name: e.get("NAME")}
		if a.Name == "" {
			r.warn(s, "Begin Application without NAME; ignored")
			return
		}
		if _, twice := r.out.Config.Application(a.Name); twice {
			r.warn(s, "application %s is there twice; ignored", a.Name)
			return
		}
		for _, x := range e {
			switch strings.ToUpper(x.key) {
			case "NAME":
			case "DESCRIPTION":
				a.Description = x.value
			case "RES_REQ":
				if r.requirement(s, "application "+a.Name, x.value) {
					a.Requirement = x.value
				}
			case "RUNTIME":
				a.Runtime = r.minutes(s, x.key, x.value)
			case "RUNLIMIT":
				a.RunDefault, a.RunMax = r.limits(s, x)
			case "CPULIMIT":
				_, a.CPULimit = r.limits(s, x)
			default:
				r.unknown(s, x.key)
			}
		}
		r.out.Config.Applications = append(r.out.Config.Applications, a)
	}})
	name := r.out.Config.DefaultApplication
	if _, ok := r.out.Config.Application(name); name != "" && !ok {
		r.warn(section{path: r.files.Params.Path}, "DEFAULT_APPLICATION %s is not in lsb.applications; ignored", name)
		r.out.Config.DefaultApplication = ""
	}
}

// requirement reports whether a RES_REQ can be held, and tells if it cannot.
func (r *reader) requirement(s section, of, text string) bool {
	if text == "" {
		return false
	}
	err := lsf.CheckQueue(lsf.QueueRequirement, text, r, r.site)
	switch {
	case err == nil:
		return true
	case pbs.CodeOf(err) == pbs.NotSupported:
		r.warn(s, "RES_REQ of %s cannot be held: %s; ignored", of, err)
	default:
		r.warn(s, "Bad resource requirement syntax in RES_REQ of %s; ignored", of)
	}
	return false
}
