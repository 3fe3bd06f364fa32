package pbs

// helpOn returns what qmgr tells of itself, or of one of its commands.
func helpOn(topic string) string {
	if verb, ok := expand(topic, verbs()); ok {
		return qmgrTopics[verb]
	}
	return qmgrHelp
}

const qmgrHelp = `General syntax: command [object] [names] [attr OP value, ...]
commands: active, create, delete, set, unset, list, print, import, export, help, history, quit, exit
objects:  server, sched, queue, node, resource, hook, pbshook
names:    name[@server][,name[@server]...]; @default for all
OP:       = (set), += (increment, append), -= (decrement, remove)
Values with blanks, commas or # are put in quotes. Words may be shortened.
A backslash at the end of a line continues it; # begins a comment; ; separates.
Try 'help COMMAND' for one of them.
`

var qmgrTopics = map[string]string{
	"active": `active [object [name[,name...]]]
Makes objects those that are meant when a directive names none; without names it tells which they are.
`,
	"create": `create object name[,name...] [attr = value[,attr = value...]]
Makes queues, nodes, resources and hooks. A resource wants its type: create resource r type=long,flag=nh
`,
	"delete": `delete object name[,name...]
Deletes objects; @default names all of a kind. What is in use is not deleted.
`,
	"set": `set object [name[,name...]] attr[.resource] OP value[,attr[.resource] OP value...]
Sets attributes, all of one object or none.
`,
	"unset": `unset object [name[,name...]] attr[.resource][,attr[.resource]...]
Gives attributes their defaults back.
`,
	"list": `list object [name[,name...]] [attr[,attr...]]
Lists attributes and their values.
`,
	"print": `print object [name[,name...]] [attr[,attr...]]
Prints the directives that make the object again.
`,
	"import": `import hook name application/x-python|application/x-config default|base64 file
Loads a hook's script or configuration.
`,
	"export": `export hook name application/x-python|application/x-config default|base64 [file]
Writes a hook's script or configuration.
`,
	"help":    "help [command]\nTells how directives are written.\n",
	"history": "history\nLists the directives of this session and, at a terminal, of those before.\n",
	"quit":    "quit\nEnds qmgr.\n",
	"exit":    "exit\nEnds qmgr.\n",
}
