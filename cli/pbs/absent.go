package pbs

// An Absent is a program of PBS that cannot be here; what does its job is said by one that has
// its name.
type Absent struct {
	Name    string
	Instead string
	Sbin    bool // where PBS has it: sbin, else bin
}

// Texts of several programs: what serves instead.
const (
	mpi      = "the launcher of the MPI library starts its processes on the job's hosts; docs/cgroups.md has how"
	database = "there is no database: every replica has the state, and rampart cluster status tells how they do"
	printed  = "printjob is the program itself"
)

// absents are the programs that an OpenPBS 23.06 has, and this does not.
var absents = []Absent{
	{Name: "mpiexec", Instead: mpi},
	{Name: "nqs2pbs", Instead: "scripts of NQS are not converted; write #PBS lines for qsub"},
	{Name: "pbs_lamboot", Instead: mpi},
	{Name: "pbs_mpihp", Instead: mpi},
	{Name: "pbs_mpilam", Instead: mpi},
	{Name: "pbs_mpirun", Instead: mpi},
	{Name: "pbs_remsh", Instead: "pbs_tmrsh HOST COMMAND runs a command on another host of the job"},
	{Name: "pbs_rmget", Instead: "pbsnodes -v VNODE shows what the mom of a host tells"},
	{Name: "pbs_tclsh", Instead: "pbs_python, qmgr and qstat -F json do what scripts of PBS's Tcl did"},
	{Name: "pbs_wish", Instead: "pbs_python, qmgr and qstat -F json do what scripts of PBS's Tcl did"},
	{Name: "pbsrun", Instead: mpi},
	{Name: "pbsrun_unwrap", Instead: mpi},
	{Name: "pbsrun_wrap", Instead: mpi},
	{Name: "printjob.bin", Instead: printed},
	{Name: "printjob_host.bin", Instead: printed},
	{Name: "printjob_svr.bin", Instead: printed},
	{Name: "pbs_dataservice", Instead: database, Sbin: true},
	{Name: "pbs_ds_monitor", Instead: database, Sbin: true},
	{Name: "pbs_ds_password", Instead: database, Sbin: true},
	{Name: "pbs_ds_password.bin", Instead: database, Sbin: true},
	{Name: "pbs_idled", Instead: "hosts are not watched for people at their keyboards; pbsnodes -o HOST takes one out", Sbin: true},
	{Name: "pbs_iff", Instead: "users are known by the socket of their host's daemon, or by the token of rampart login", Sbin: true},
	{Name: "pbs_mkdirs", Instead: "daemons make their folders when they start", Sbin: true},
	{Name: "pbs_rcp", Instead: "files of jobs travel between the daemons, and by PBS_SCP to other hosts", Sbin: true},
	{Name: "pbs_server.bin", Instead: "pbs_server is the program itself", Sbin: true},
	{Name: "pbs_snapshot", Instead: "rampart cluster snapshot save FILE saves the state; rampart cluster status --json, qmgr -c 'print server' and the logs tell the rest", Sbin: true},
	{Name: "pbs_topologyinfo", Instead: "nothing is licensed by sockets; pbsnodes -av shows what hosts have", Sbin: true},
	{Name: "pbs_upgrade_job", Instead: "an upgrade converts no jobs; docs/operations.md has how it is done", Sbin: true},
}

// AbsentNames returns the names of those programs that PBS has in bin, or in sbin.
func AbsentNames(sbin bool) []string {
	var names []string
	for _, a := range absents {
		if a.Sbin == sbin {
			names = append(names, a.Name)
		}
	}
	return names
}

// FindAbsent returns the program of that name, if it is one of those.
func FindAbsent(name string) (Absent, bool) {
	for _, a := range absents {
		if a.Name == name {
			return a, true
		}
	}
	return Absent{}, false
}

// String returns a line that names the replacement for the program.
func (a Absent) String() string { return a.Name + ": not in Rampart: " + a.Instead }
