// Package packaged tests what makes a package of use on a host: the documents that
// others link to are in it, systemd knows each line of the units, and the init script sees
// and restarts what runs. It owns tests alone, and nothing that runs in a program.
package packaged
