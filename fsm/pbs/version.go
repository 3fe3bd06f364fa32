package pbs

// Version is what --version and pbs_version tell. Tools compare it with versions
// of PBS, so it is digits and dots (specification: drop-in section 2).
const Version = "23.06.06"

// VersionLine is what every command and daemon prints for --version.
const VersionLine = "pbs_version = " + Version + "\n"
