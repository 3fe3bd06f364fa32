package cluster

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"rampart/cluster/member"
	"rampart/cluster/store"
)

// alarms returns what is wrong here, the worst first.
func (r *report) alarms(disk store.Disk) []member.Alarm {
	var all []member.Alarm
	if err := r.store.Err(); err != nil {
		all = append(all, storeAlarm(err))
	}
	if since, ok := r.silence.now(); ok {
		all = append(all, stalledAlarm(since, r.store.Dir()))
	}
	if err := r.machine.Err(); err != nil {
		all = append(all, member.Alarm{Kind: member.AlarmMachine, Text: err.Error(), Advice: "see the exit status of the process"})
	}
	if why := r.drift.split.Load(); why != nil {
		all = append(all, member.Alarm{Kind: member.AlarmSplit, Text: *why, Advice: "stop the cluster and keep a copy of every server_priv/raft; see docs/operations.md"})
	}
	for _, a := range []*member.Alarm{r.starts.gone.Load(), r.starts.waiting.Load(), r.disk.waiting.Load(), r.disk.full.Load(), r.snapshots.unsaved.Load()} {
		if a != nil {
			all = append(all, *a)
		}
	}
	all = append(all, diskAlarms(disk)...)
	if r.others != nil {
		all = append(all, r.others()...)
	}
	return all
}

func storeAlarm(err error) member.Alarm {
	a := member.Alarm{Kind: member.AlarmStore, Text: err.Error(), Advice: "look at the disk; the process ends with status 74 and may be started again"}
	if errors.Is(err, syscall.ENOSPC) {
		a.Advice = "make room on the disk; the process ends with status 74, and once started again it waits for room"
	}
	return a
}

func stalledAlarm(since time.Time, dir string) member.Alarm {
	return member.Alarm{
		Kind:   member.AlarmStalled,
		Text:   fmt.Sprintf("silent: %s has not answered since %s", dir, since.Format(time.RFC3339)),
		Advice: "look at the disk and the path to it; the replica goes on by itself when it answers",
	}
}
