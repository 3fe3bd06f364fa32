// Package cgroup contains the processes of a job: it makes the job's cgroup, limits it to
// what the job was given on this host, shrinks it when vnodes leave, measures, empties and
// removes it, and it says which cpus and GPUs a job has. It owns the folders PREFIX.service/jobid
// of every hierarchy, and the file of each job that has any of this. It knows no job states and
// no orders: those are mom/task's; processes and their birth are mom/proc's.
//
// On v1 and hybrid hosts there is a folder in each controller's hierarchy, on v2 one in the
// subtree that was delegated to the mom. What is on disk outlives the mom; what it does not
// know any more is removed by Sweep.
//
// A Manager may be used by several goroutines and starts none. What it needs of the host comes
// as Options, so that tests can bring a tree of their own.
package cgroup
