package mom

import (
	"cmp"
	"os"
)

// confFile returns the configuration file of the host, which hooks may read.
func confFile() string { return cmp.Or(os.Getenv("PBS_CONF_FILE"), "/etc/pbs.conf") }
