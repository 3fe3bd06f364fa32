package ledger

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A line is one entry of the server log without time and daemon.
type line struct {
	event         uint16
	class, object string
	text          string
}

// log writes the lines of one event.
func (w *writer) log(e state.Event) {
	at := time.Unix(0, int64(e.At))
	for _, l := range lines(e, w.ledger.opts.Home) {
		if l.object == "" {
			l.object = w.ledger.opts.Self
		}
		if err := w.ledger.opts.Log.Write(at, l.event, l.class, l.object, l.text); err != nil {
			w.ledger.opts.Logger.Error("write the server log", "error", err)
			return
		}
	}
}

// lines returns what the server log of the replica with the home says about an event. An
// object that is empty stands for the daemon itself.
func lines(e state.Event, home string) []line {
	if e.Job != nil {
		return jobLines(e)
	}
	if e.Reservation != nil {
		return reservationLines(e)
	}
	switch e.Kind {
	case state.HookFileSent:
		return []line{{pbs.LogDebug, "Req", "", "successfully sent hook file " + filepath.Join(home, "server_priv", "hooks", e.Object) + " to " + e.Text}}
	case state.HookFileDeleted:
		return []line{{pbs.LogDebug, "Req", "", "successfully deleted hook file " + e.Object + " from " + e.Text}}
	case state.HookAsked:
		return []line{{pbs.LogSystem, "Node", e.Object, e.Text}}
	case state.HookVnodeChanged, state.HookVnodeRefused:
		return []line{{pbs.LogDebug2, "Node", e.Object, e.Text}}
	case state.HookNewsPending:
		return []line{{pbs.LogSystem, "Node", e.Object, e.Text}}
	case state.HostWentUp:
		return []line{{pbs.LogSystem, "Node", e.Object, "node up"}}
	case state.HostWentDown:
		return []line{{pbs.LogSystem, "Node", e.Object, downText(e)}}
	case state.HostGivenUp:
		return []line{{pbs.LogSystem, "Node", e.Object, givenUpText(e)}}
	case state.VnodeLeft, state.VnodeChanged:
		return []line{{pbs.LogDebug2, "Node", e.Object, e.Text}}
	case state.HostTroubled:
		return []line{{pbs.LogSystem, "Node", e.Object, troubleText(e)}}
	case state.TrustChanged:
		return []line{{pbs.LogAdmin, "Svr", e.Object, e.Text}}
	case state.EpochBegan:
		return []line{{pbs.LogSystem | pbs.LogAdmin, "Svr", e.Object, e.Text}}
	case state.LeaderChanged:
		return []line{{pbs.LogSystem, "Svr", e.Object, join("leader changed", e.Text)}}
	case state.ObjectChanged:
		return objectLines(e)
	default:
		return nil
	}
}

func jobLines(e state.Event) []line {
	j := e.Job
	say := func(event uint16, text string) line { return line{event, "Job", string(j.ID), text} }
	by := e.By.String()
	switch e.Kind {
	case state.JobQueued:
		return []line{
			say(pbs.LogDebug2, "enqueuing into "+string(j.Queue)+", state "+j.State.Letter()+" hop 1"),
			say(pbs.LogJob, "Job Queued at request of "+by+", owner = "+j.Owner.String()+
				", job name = "+j.Name+", queue = "+string(j.Queue)),
		}
	case state.JobRun:
		return []line{say(pbs.LogJob, "Job Run at request of "+by+" on exec_vnode "+j.LastRun().ExecVnode.String())}
	case state.JobEnded:
		return []line{
			say(pbs.LogDebug, "Obit received"),
			say(pbs.LogJobUsage, j.ExitText(" ")),
			say(pbs.LogDebug2, "dequeuing from "+string(j.Queue)+", state "+pbs.Exiting.Letter()), // whether history keeps it or not
		}
	case state.JobRequeued, state.JobRequeuedUnrun:
		return []line{say(pbs.LogJob, requeueText(e))}
	case state.JobCheckpointed:
		return []line{say(pbs.LogJob, "Job checkpointed and ended "+onHosts(j.Checkpoint.Keepers()))}
	case state.JobRestarted:
		return []line{say(pbs.LogJob, "Job restarted from its checkpoint "+onHosts(j.Hosts()))}
	case state.CheckpointMade:
		return []line{say(pbs.LogJob, "Job checkpointed "+onHosts(j.Hosts())+", it runs on")}
	case state.CheckpointFailed:
		return []line{say(pbs.LogJob, "Job not checkpointed: "+e.Text)}
	case state.JobDeleteAsked:
		return []line{say(pbs.LogJob, "Job to be deleted at request of "+by)}
	case state.JobAborted:
		return []line{say(pbs.LogJob, e.Text)}
	case state.JobAltered:
		if e.Quiet {
			return nil
		}
		return []line{say(pbs.LogJob, "Job Modified at request of "+by)}
	case state.JobHeld:
		return []line{say(pbs.LogJob, "Holds "+holdText(e)+" set at request of "+by)}
	case state.JobReleased:
		return []line{say(pbs.LogJob, "Holds "+holdText(e)+" released at request of "+by)}
	case state.JobSignaled:
		return []line{say(pbs.LogJob, "job signaled with "+e.Text+" by "+by)}
	case state.JobRerunAsked:
		return []line{say(pbs.LogJob, "Job Rerun at request of "+by)}
	case state.JobMoved:
		return []line{
			say(pbs.LogDebug2, "dequeuing from "+e.Object+", state "+j.State.Letter()),
			say(pbs.LogDebug2, "enqueuing into "+string(j.Queue)+", state "+j.State.Letter()+" hop 1"),
			say(pbs.LogJob, "Job moved to "+string(j.Queue)+movedBy(e)),
		}
	case state.JobRefused, state.JobNoted:
		return []line{say(pbs.LogJob, e.Text)}
	case state.JobAccrued:
		return []line{say(pbs.LogDebug2, e.Text)}
	case state.JobDequeued:
		return []line{say(pbs.LogDebug2, "dequeuing from "+string(j.Queue)+", state "+j.State.Letter())}
	default:
		return nil
	}
}

// movedBy says at whose request a job was moved; routing queues have nobody's.
func movedBy(e state.Event) string {
	if e.By.Name == "" {
		return ""
	}
	return " at request of " + e.By.String()
}

func downText(e state.Event) string {
	text := "node down: " + state.ConnectionClosed
	if e.Text != "" {
		text += " (" + e.Text + ")"
	}
	return text
}

func givenUpText(e state.Event) string {
	if e.By.Name == "" {
		return "node given up, " + e.Text
	}
	return "node given up, " + e.Text + " at request of " + e.By.String()
}

func troubleText(e state.Event) string {
	if e.Text == "" {
		return "node takes jobs again"
	}
	return "node takes no jobs: " + e.Text
}

func requeueText(e state.Event) string {
	if e.Text == "" {
		return "Job requeued"
	}
	if strings.HasPrefix(e.Text, "Job requeued") {
		return e.Text
	}
	return "Job requeued, " + e.Text
}

func holdText(e state.Event) string {
	if e.Text != "" {
		return e.Text
	}
	return pbs.HoldUser.String()
}

func join(text, more string) string {
	if more == "" {
		return text
	}
	return text + ": " + more
}

// onHosts says where a job was checkpointed or goes on from there.
func onHosts(hosts []pbs.HostName) string {
	if len(hosts) == 0 {
		return "on no host"
	}
	if len(hosts) == 1 {
		return "on host " + string(hosts[0])
	}
	return fmt.Sprintf("on host %s and %d more", hosts[0], len(hosts)-1)
}

// objectClasses are PBS's classes of the kinds of objects.
var objectClasses = map[string]string{"queue": "Que", "node": "Node", "hook": "Hook", "resource": "Resc", "sched": "Sched"}

// objectLines returns the lines that mgr_log_attr writes in PBS: who did what, and each attribute in a line of its own. The server's
// object is the daemon.
func objectLines(e state.Event) []line {
	class, object := "Svr", e.Object
	if kind, name, ok := strings.Cut(e.Object, " "); ok && objectClasses[kind] != "" {
		class, object = objectClasses[kind], name
	}
	if e.Object == "server" {
		object = ""
	}
	lines := []line{{pbs.LogAdmin, class, object, e.Text + " at request of " + e.By.String()}}
	before := state.AttributesSet
	if e.Text == state.AttributesUnset {
		before = state.AttributesUnset
	}
	for _, a := range e.Attributes {
		lines = append(lines, line{pbs.LogAdmin, class, object, before + a})
		if last, ok := strings.CutPrefix(a, "max_job_sequence_id = "); ok && class == "Svr" {
			lines = append(lines, line{pbs.LogAdmin, class, object, lastJobText(last)})
		}
	}
	return lines
}

// lastJobText tells in PBS's words of a change of max_job_sequence_id.
func lastJobText(last string) string {
	if last == "" {
		return "svr_max_job_sequence_id reverting back to default val 9999999"
	}
	return "svr_max_job_sequence_id set to val " + last
}
