package attr

// An Option is an option of qsub, and of qalter where Alter is true, that sets an
// attribute of the job.
type Option struct {
	Letter    byte
	Attribute string
	Flag      bool   // takes no value on qsub's command line; Value is set
	Value     string // what a flag sets
	Alter     bool
	Unsets    bool // an empty value leaves the attribute unset, as scripts write -A "$ACCOUNT"
}

// Options that set no attribute, or several, are the commands' own: -C, -f, -l, -q, -v,
// -V, -W, -X, -z.
var options = [...]Option{
	{Letter: 'a', Attribute: "Execution_Time", Alter: true},
	{Letter: 'A', Attribute: "Account_Name", Alter: true, Unsets: true},
	{Letter: 'c', Attribute: "Checkpoint", Alter: true},
	{Letter: 'e', Attribute: "Error_Path", Alter: true},
	{Letter: 'h', Attribute: "Hold_Types", Flag: true, Value: "u", Alter: true}, // qalter's takes a value
	{Letter: 'I', Attribute: "interactive", Flag: true, Value: "True"},
	{Letter: 'j', Attribute: "Join_Path", Alter: true},
	{Letter: 'J', Attribute: "array_indices_submitted"},
	{Letter: 'k', Attribute: "Keep_Files", Alter: true},
	{Letter: 'm', Attribute: "Mail_Points", Alter: true},
	{Letter: 'M', Attribute: "Mail_Users", Alter: true},
	{Letter: 'N', Attribute: "Job_Name", Alter: true},
	{Letter: 'o', Attribute: "Output_Path", Alter: true},
	{Letter: 'p', Attribute: "Priority", Alter: true},
	{Letter: 'P', Attribute: "project", Alter: true, Unsets: true},
	{Letter: 'r', Attribute: "Rerunable", Alter: true},
	{Letter: 'R', Attribute: "Remove_Files", Alter: true},
	{Letter: 'S', Attribute: "Shell_Path_List", Alter: true},
	{Letter: 'u', Attribute: "User_List", Alter: true},
}

// OptionOf returns what an option letter of qsub sets.
func OptionOf(letter byte) (Option, bool) {
	for _, o := range options {
		if o.Letter == letter {
			return o, true
		}
	}
	return Option{}, false
}

// OptionLetters returns the letters of all options that set an attribute.
func OptionLetters() string {
	letters := make([]byte, len(options))
	for i, o := range options {
		letters[i] = o.Letter
	}
	return string(letters)
}

// additional are the names of -W whose values the commands judge; each is the name of its
// attribute. The value of tolerate_node_failures is for the server to judge (specification:
// reliable-startup section 2).
var additional = map[string]bool{
	"block": true, "depend": true, "group_list": true, "max_run_subjobs": true, "pwd": true, "release_nodes_on_stageout": true,
	"run_count": true, "sandbox": true, "stagein": true, "stageout": true, "umask": true,
}

// Additional returns the attribute that a name of -W sets.
func Additional(name string) (*Def, bool) {
	if !additional[name] {
		return nil, false
	}
	return Lookup(Job, name)
}
