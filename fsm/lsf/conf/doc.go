// Package conf reads the configuration files of LSF and writes them: what their text says, checked against each other
// and against what the cluster has (specification: reservation section 8). It knows neither disks nor the state: texts come in,
// a configuration and all that is wrong with the texts come out. Everything is a value; nothing is started, so nothing stops.
package conf
