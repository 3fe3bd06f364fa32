package hook

import (
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/resource"
)

// schema is what the module pbs has to know of attributes, resources and events: the
// attribute table in the words of Python.
type schema struct {
	Job       map[string]string `json:"job"`
	Vnode     map[string]string `json:"vnode"`
	Queue     map[string]string `json:"queue"`
	Server    map[string]string `json:"server"`
	Resv      map[string]string `json:"resv"`
	Resources map[string]string `json:"resources"`
	Events    map[string]uint64 `json:"events"`
}

func newSchema() schema {
	s := schema{
		Job: kindsOf(attr.Job), Vnode: kindsOf(attr.Vnode), Queue: kindsOf(attr.Queue), Server: kindsOf(attr.Server),
		Resv: kindsOf(attr.Reservation), Resources: map[string]string{}, Events: map[string]uint64{},
	}
	for name, kind := range map[string]string{
		"schedselect": "text", "schedselect_orig": "text", "euser": "text", "egroup": "text",
		"reserve_standing": "number", "reserve_timezone": "text", "reserve_execvnodes": "text", "resources_used": "resources",
	} {
		s.Resv[name] = kind
	}
	for _, name := range []string{"license_info", "lictype", "topology_info"} { // PBS's own, which no vnode of ours has set
		s.Vnode[name] = "text"
	}
	for _, d := range resource.Builtin() {
		s.Resources[d.Name] = d.Type.String()
	}
	for _, name := range []string{"select", "place"} {
		s.Resources[name] = "string"
	}
	for _, e := range attr.HookEvents() {
		s.Events[e.Name] = e.Constant()
	}
	return s
}

var kindWords = map[attr.Type]string{
	attr.Number: "number", attr.Boolean: "boolean", attr.Duration: "duration", attr.Epoch: "epoch",
	attr.Resources: "resources", attr.Variables: "variables",
}

func kindsOf(o attr.Object) map[string]string {
	out := map[string]string{}
	for _, d := range attr.All(o) {
		word, ok := kindWords[d.Type]
		if !ok {
			word = "text"
		}
		if d.PerResource() {
			word = "resources"
		}
		out[d.Name] = word
	}
	return out
}

// SettableJob returns the attributes that queuejob and modifyjob hooks may set: what submitters
// and Managers may.
func SettableJob() []string {
	all := []string{"queue"}
	for _, d := range attr.All(attr.Job) {
		if d.Write != attr.ServerOnly {
			all = append(all, d.Name)
		}
	}
	return all
}

// SettableResv returns the attributes of reservations that resvsub and modifyresv hooks may set.
func SettableResv() []string {
	return []string{
		"Reserve_Name", "reserve_start", "reserve_end", "reserve_duration", "Resource_List", "Authorized_Users", "Authorized_Groups",
		"Authorized_Hosts", "User_List", "group_list", "Mail_Points", "Mail_Users", "delete_idle_time",
	}
}

// SettableQueued returns the attributes of a job that is queued, which hooks may set as those of
// modifyjob do: all but its queue.
func SettableQueued() []string { return SettableJob()[1:] }

// SettableAtStart returns the attributes that runjob hooks may set of a job that they let start, and
// of one that they do not: those of AtRefusal.
func SettableAtStart() []string {
	return append([]string{"Resource_List", "Variable_List", "Output_Path", "Error_Path", "Priority", "create_resv_from_job"}, AtRefusal()...)
}

// AtRefusal returns the attributes of a job that runjob hooks may set though they refuse its start:
// they say how long it is to wait.
func AtRefusal() []string { return []string{"Hold_Types", "Execution_Time", "depend", "project"} }

// SettableOnMom returns the attributes of jobs that hooks on moms may set.
func SettableOnMom() []string {
	return []string{"resources_used", "Hold_Types", "Execution_Time", "Account_Name", "Priority", "comment", "run_count", "Variable_List"}
}

// splitName takes NAME.RESOURCE apart.
func splitName(name string) (base, res string) {
	base, res, _ = strings.Cut(name, ".")
	return base, res
}
