package pbs

// The commands that ask no server: the program itself carries them out.
const (
	PythonName = "pbs_python"
	SleepName  = "pbs_sleep"
	HostnName  = "pbs_hostn"
)

// LocalNames returns the names of those commands.
func LocalNames() []string { return []string{PythonName, SleepName, HostnName} }
