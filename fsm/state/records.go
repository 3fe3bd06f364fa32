package state

import (
	"fmt"

	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Cluster holds what there is once: identity, clocks and counters.
type Cluster struct {
	ID           string          `cbor:"1,keyasint,omitempty"` // random at init; in every certificate
	Name         string          `cbor:"2,keyasint,omitempty"` // server name: the suffix of job ids
	Epoch        uint64          `cbor:"3,keyasint,omitempty"` // random at init, replaced by restore and recover (L9)
	Time         pbs.Time        `cbor:"4,keyasint,omitempty"` // greatest entry time applied; never runs backwards
	Term         uint64          `cbor:"5,keyasint,omitempty"` // of the last TermStarted
	Leader       pbs.ReplicaName `cbor:"6,keyasint,omitempty"` // that wrote it
	LeaderHost   pbs.HostName    `cbor:"7,keyasint,omitempty"` // server_host of qstat -Bf
	FeatureLevel uint32          `cbor:"8,keyasint,omitempty"`
	NextJob      uint64          `cbor:"9,keyasint,omitempty"`  // sequence number of the next job
	NumbersAgain bool            `cbor:"54,keyasint,omitempty"` // they have begun again at 0 after max_job_sequence_id
	LastRecord   uint64          `cbor:"10,keyasint,omitempty"` // number of the last accounting record (L10)
	NextSeq      uint64          `cbor:"11,keyasint,omitempty"` // order of creation of queues, vnodes and requests
	GossipKeys   [][]byte        `cbor:"12,keyasint,omitempty"` // the first one encrypts
	Faults       []Fault         `cbor:"13,keyasint,omitempty"` // commands that panicked, the latest maxFaults
	Differences  []Difference    `cbor:"14,keyasint,omitempty"` // replicas that drifted, the latest first
	Forgotten    uint64          `cbor:"20,keyasint,omitempty"` // index of the last tombstone that was dropped

	Revocations      uint64 `cbor:"15,keyasint,omitempty"` // how often keys were revoked: who keeps connections compares
	GossipGeneration uint64 `cbor:"16,keyasint,omitempty"` // how often GossipKeys was changed
	GossipAgain      bool   `cbor:"50,keyasint,omitempty"` // who was cut off while it was changed knows the new key, too

	Roots     [][]byte `cbor:"17,keyasint,omitempty"` // certificates of the CAs (DER), the old one first; none: that of the beginning
	RootTurns uint64   `cbor:"18,keyasint,omitempty"` // steps that were taken to replace the CA

	Backups *BackupPlan `cbor:"26,keyasint,omitempty"` // nil: none are made

	Staging *Staging `cbor:"24,keyasint,omitempty"` // a snapshot file that is about to be put back; nil: none

	// Former are the names that the server has had before, that of its beginning first; replaced, never written to.
	Former []string `cbor:"53,keyasint,omitempty"`

	RTTClass pbs.RTTClass `cbor:"30,keyasint,omitempty"` // how far the replicas are from each other; empty: lan

	Removals []Removal `cbor:"21,keyasint,omitempty"` // replicas that leave or have left, the latest first

	Recoveries []Recovery `cbor:"22,keyasint,omitempty"` // after losses of the quorum, the latest first

	HookEvents     uint64 `cbor:"33,keyasint,omitempty"` // bits of the events at which enabled hooks with scripts run
	HookGeneration uint64 `cbor:"34,keyasint,omitempty"` // how often what moms know of hooks and resources has changed

	Decayed pbs.Time `cbor:"45,keyasint,omitempty"` // when the usage of fair share was last made to fade

	RequestFloor pbs.Time `cbor:"51,keyasint,omitempty"` // outcomes of ids made before it had to be forgotten early

	Licenses *Licenses `cbor:"40,keyasint,omitempty"` // cpus in use; replaced, never written to

	Turned pbs.Time `cbor:"52,keyasint,omitempty"` // when the last dispatch turn was in which a job that waits had something kept for it
}

// Licenses is how many cpus jobs have, and had at most.
type Licenses struct {
	Used    int64 `cbor:"1,keyasint,omitempty"` // at the last tick
	Hour    int64 `cbor:"2,keyasint,omitempty"` // since the epoch
	InHour  int64 `cbor:"3,keyasint,omitempty"`
	InDay   int64 `cbor:"4,keyasint,omitempty"` // of UTC, as the month
	InMonth int64 `cbor:"5,keyasint,omitempty"`
	Max     int64 `cbor:"6,keyasint,omitempty"`
}

// A Difference is a replica whose state differed from that of a majority.
type Difference struct {
	Replica pbs.ReplicaName `cbor:"1,keyasint"`
	Index   uint64          `cbor:"2,keyasint"` // of the states that were compared
	At      pbs.Time        `cbor:"3,keyasint"` // when it was found
}

// A Fault is a command whose Apply panicked; its proposal was rolled back.
type Fault struct {
	Index uint64 `cbor:"1,keyasint"`
	Text  string `cbor:"2,keyasint"`
}

// Server holds the server's attributes as qmgr sets them.
type Server struct {
	Attrs        attr.List   `cbor:"1,keyasint,omitempty"`
	FenceChanged uint64      `cbor:"2,keyasint,omitempty"` // index at which node_fail_requeue got its value
	Sched        attr.List   `cbor:"3,keyasint,omitempty"` // those of the scheduler, as far as they are its own
	HaltedAt     pbs.Time    `cbor:"4,keyasint,omitempty"` // no job starts: the servers are about to end; 0: they are not
	LiftedAt     pbs.Time    `cbor:"5,keyasint,omitempty"` // the hosts' deadlines are lifted; 0: they are not
	Used         []string    `cbor:"6,keyasint,omitempty"` // consumables that jobs have had, sorted
	HotSince     pbs.Time    `cbor:"7,keyasint,omitempty"` // first of all the jobs start again that qterm has ended; 0: they have
	Scheds       []Scheduler `cbor:"8,keyasint,omitempty"` // further ones, in the order in which they were made; replaced, never written to
}

// Queue is an execution queue, or a routing queue.
type Queue struct {
	Name     pbs.QueueName `cbor:"1,keyasint"`
	Seq      uint64        `cbor:"2,keyasint"` // order of creation
	Enabled  bool          `cbor:"3,keyasint,omitempty"`
	Started  bool          `cbor:"4,keyasint,omitempty"`
	Attrs    attr.List     `cbor:"5,keyasint,omitempty"` // the others
	Modified uint64        `cbor:"6,keyasint,omitempty"` // index of the last change

	Routed    pbs.Time `cbor:"7,keyasint,omitempty"` // when its jobs were tried to be routed last
	RouteNext uint64   `cbor:"8,keyasint,omitempty"` // sequence number of the job to go on with; 0: the first
	RouteOn   bool     `cbor:"9,keyasint,omitempty"` // jobs that were tried last have left: the next need not wait

	Used []string `cbor:"10,keyasint,omitempty"` // consumables that its jobs have had, sorted

	Reservation pbs.ReservationID `cbor:"11,keyasint,omitempty"` // whose queue it is
}

// VnodeFlags are the conditions of a vnode that do not follow from its jobs.
type VnodeFlags uint16

// The conditions. The numbers are in every log and snapshot: append only.
const (
	VnodeOffline  VnodeFlags = 1 << iota // set by an operator
	VnodeDown                            // its mom is down
	VnodeUnknown                         // its mom was not heard since it was created, or by the leader that found it down
	VnodeStale                           // its mom no longer reports it
	VnodeTroubled                        // its mom lives, and cannot take jobs: Host.Trouble says why
	VnodeBusy                            // the load of its host is above $max_load of the mom
	VnodeSetDown                         // somebody has set it down; its mom's next registration clears that
	VnodeAsleep                          // somebody has set it to sleep
)

// VnodeDecided are the conditions that people and hooks decide.
const VnodeDecided = VnodeOffline | VnodeSetDown | VnodeAsleep

// Vnode is one schedulable part of a host.
type Vnode struct {
	Name            pbs.VnodeName `cbor:"1,keyasint"`
	Host            pbs.HostName  `cbor:"2,keyasint"` // whose mom owns it
	Seq             uint64        `cbor:"3,keyasint"` // order of creation: the scheduler's order
	Flags           VnodeFlags    `cbor:"4,keyasint,omitempty"`
	Reported        resource.List `cbor:"5,keyasint,omitempty"` // resources_available as the mom tells
	Configured      resource.List `cbor:"6,keyasint,omitempty"` // as qmgr set it; wins over Reported
	Jobs            []VnodeJob    `cbor:"8,keyasint,omitempty"` // in the order of their start
	Sharing         string        `cbor:"9,keyasint,omitempty"`
	Comment         string        `cbor:"10,keyasint,omitempty"`
	Attrs           attr.List     `cbor:"11,keyasint,omitempty"`
	LastStateChange pbs.Time      `cbor:"12,keyasint,omitempty"`
	LastUsed        pbs.Time      `cbor:"13,keyasint,omitempty"`
	Modified        uint64        `cbor:"14,keyasint,omitempty"`
	Unreserved      bool          `cbor:"15,keyasint,omitempty"` // resv_enable is False
	OverCommitted   bool          `cbor:"16,keyasint,omitempty"` // less is available now than was when assigned (L3)
	ReportedAttrs   attr.List     `cbor:"17,keyasint,omitempty"` // of the definition files; Attrs win over them
	ByHook          bool          `cbor:"19,keyasint,omitempty"` // made by a hook on its mom, which does not report it
	Lent            resource.List `cbor:"20,keyasint,omitempty"` // what jobs of other vnodes hold of it (resources_available.X=@V); PutVnode keeps it
	OverPromised    bool          `cbor:"22,keyasint,omitempty"` // less is available now than was promised for some time to come (L15)

	alloc.Account // what jobs and reservations that have begun are charged with
}

// A VnodeJob is a run that holds a share of a vnode.
type VnodeJob struct {
	Job       pbs.JobID     `cbor:"1,keyasint"`
	RunCount  pbs.RunCount  `cbor:"2,keyasint"`
	Items     resource.List `cbor:"3,keyasint,omitempty"` // consumables charged
	CPUs      []uint32      `cbor:"4,keyasint,omitempty"` // indexes shown by pbsnodes; one when no cpus
	Exclusive bool          `cbor:"5,keyasint,omitempty"`
	Slots     []uint32      `cbor:"6,keyasint,omitempty"`  // of exec_host; counted per mom
	Suspended bool          `cbor:"10,keyasint,omitempty"` // Items is what it did not give back; it has no cpus
	Admin     bool          `cbor:"11,keyasint,omitempty"` // admin-suspended: the vnode is in maintenance

	Reservation pbs.ReservationID `cbor:"12,keyasint,omitempty"` // that is charged in place of the vnode

	Fades   bool          `cbor:"13,keyasint,omitempty"` // of some of Items less is held as time passes: Run.Fades
	Charged resource.List `cbor:"-"`                     // of a vnode as it is at a time, of which Items is: the recorded ones
}

// Host is an execution host as its mom registered it.
type Host struct {
	Name          pbs.HostName `cbor:"1,keyasint"`
	Address       string       `cbor:"2,keyasint,omitempty"` // HOST:PORT of the mom's TLS port
	GossipAddress string       `cbor:"3,keyasint,omitempty"`
	BootID        string       `cbor:"4,keyasint,omitempty"`
	SpoolID       string       `cbor:"5,keyasint,omitempty"`
	Acked         uint64       `cbor:"6,keyasint,omitempty"` // highest contiguous fact of the spool (L9)
	NextOrder     pbs.OrderID  `cbor:"7,keyasint,omitempty"`
	Up            bool         `cbor:"8,keyasint,omitempty"`
	Version       string       `cbor:"9,keyasint,omitempty"`
	PCPUs         uint32       `cbor:"10,keyasint,omitempty"`
	Changed       pbs.Time     `cbor:"11,keyasint,omitempty"` // when Up last changed
	Modified      uint64       `cbor:"12,keyasint,omitempty"`
	Registered    uint64       `cbor:"13,keyasint,omitempty"` // how often its mom has registered
	// Fence is how many seconds at most pass between the sending of a renewal and the
	// deadline that the host holds for it, whatever node_fail_requeue is by now; 0: there
	// may be no deadline (L2).
	Fence   int64  `cbor:"14,keyasint,omitempty"`
	GivenUp bool   `cbor:"15,keyasint,omitempty"` // its fence has fallen, or it was forgotten: no run of it counts
	Trouble string `cbor:"16,keyasint,omitempty"` // why it cannot take jobs; empty: it can
	Removed bool   `cbor:"17,keyasint,omitempty"` // its natural vnode was deleted: none is made before qmgr makes that one again
	Epoch   uint64 `cbor:"18,keyasint,omitempty"` // in which its mom has registered last; 0: that was not noted yet
	Hooks   uint64 `cbor:"25,keyasint,omitempty"` // HookGeneration that the mom has confirmed since it registered

	Kept []KeptSlots `cbor:"40,keyasint,omitempty"` // they count as long as their runs are on

	// Fails is how many starts in a row have failed through the host. Sick says why it takes no new jobs
	// for that, since when; its mom proves that it is well by naming that time. Relapses counts the
	// times it was sick since it has started a job.
	Fails     uint32   `cbor:"41,keyasint,omitempty"`
	Sick      string   `cbor:"42,keyasint,omitempty"`
	SickSince pbs.Time `cbor:"43,keyasint,omitempty"`
	Relapses  uint32   `cbor:"44,keyasint,omitempty"`

	// Natural is the name that qmgr has given its natural vnode; empty: it has the host's.
	Natural pbs.VnodeName `cbor:"45,keyasint,omitempty"`

	// Busy says that the load of the host is above $max_load of its mom, and was not below $ideal_load since; JudgesLoad, that its
	// mom has such a threshold.
	Busy       bool `cbor:"46,keyasint,omitempty"`
	JudgesLoad bool `cbor:"47,keyasint,omitempty"`

	// NodeName is what its mom calls its natural vnode; empty: by the host's name.
	NodeName pbs.VnodeName `cbor:"48,keyasint,omitempty"`
}

// Job is one job. Times are zero until they happened.
type Job struct {
	ID       pbs.JobID     `cbor:"1,keyasint"`
	Seq      uint64        `cbor:"2,keyasint"`
	Name     string        `cbor:"3,keyasint,omitempty"`
	Owner    pbs.User      `cbor:"4,keyasint,omitempty"`
	State    pbs.JobState  `cbor:"5,keyasint"`
	Substate pbs.Substate  `cbor:"6,keyasint,omitempty"`
	Queue    pbs.QueueName `cbor:"7,keyasint,omitempty"`
	Priority int32         `cbor:"8,keyasint,omitempty"`
	Holds    pbs.Holds     `cbor:"9,keyasint,omitempty"`

	Created  pbs.Time `cbor:"10,keyasint,omitempty"` // ctime
	Queued   pbs.Time `cbor:"11,keyasint,omitempty"` // qtime
	Eligible pbs.Time `cbor:"12,keyasint,omitempty"` // etime
	Started  pbs.Time `cbor:"13,keyasint,omitempty"` // stime: of the latest start, if that came to nothing too
	Ended    pbs.Time `cbor:"14,keyasint,omitempty"` // obittime: when it was over for good
	Changed  pbs.Time `cbor:"15,keyasint,omitempty"` // mtime

	NotRerunnable bool          `cbor:"16,keyasint,omitempty"`
	Resources     resource.List `cbor:"17,keyasint,omitempty"` // Resource_List
	SchedSelect   string        `cbor:"18,keyasint,omitempty"`
	Defaults      []string      `cbor:"19,keyasint,omitempty"` // names in Resource_List that nobody asked for: another queue has others

	Comment  string    `cbor:"20,keyasint,omitempty"` // what somebody has said; CommentText is what is shown
	Wait     *Wait     `cbor:"39,keyasint,omitempty"` // why it does not start; shared, never written to
	Attrs    attr.List `cbor:"21,keyasint,omitempty"` // the cold ones
	Modified uint64    `cbor:"22,keyasint,omitempty"` // index of the last change

	Run      *Run         `cbor:"23,keyasint,omitempty"` // nil: it waits, or was over before it was started; replaced, never written to
	RunCount pbs.RunCount `cbor:"24,keyasint,omitempty"` // number of the latest run; it never falls (L2)
	RunBase  int64        `cbor:"25,keyasint,omitempty"` // what run_count differs by from RunCount, since somebody has set it
	// Unconfirmed names the hosts of earlier runs whose end is not known yet; the job
	// does not start before they have confirmed (L2).
	Unconfirmed []HostRun `cbor:"26,keyasint,omitempty"`

	FailedRuns uint32 `cbor:"27,keyasint,omitempty"` // starts in a row that came to nothing
	// Avoid names hosts through whose fault starts have failed since the job ran last: it gets others, if
	// any has room. Replaced, never written to.
	Avoid []pbs.HostName `cbor:"28,keyasint,omitempty"`

	Releases uint64    `cbor:"29,keyasint,omitempty"` // number of the last order about released vnodes
	Refused  []Refused `cbor:"30,keyasint,omitempty"` // the latest of the releases that came to nothing

	Ousted     *Preemption `cbor:"31,keyasint,omitempty"` // that has put it back into its queue; nil: none; replaced, never written to
	Checkpoint *Checkpoint `cbor:"32,keyasint,omitempty"` // that it goes on from; nil: it has none
	Halted     string      `cbor:"44,keyasint,omitempty"` // exec_vnode of the run that has ended with the servers, until the job runs again; empty: it has not

	Rank  uint64 `cbor:"33,keyasint,omitempty"` // one more than the place that qorder gave it; 0: Seq
	Sub   uint32 `cbor:"34,keyasint,omitempty"` // one more than the index of a subjob; 0: it is none
	Array *Array `cbor:"35,keyasint,omitempty"` // of the parent of subjobs

	ExecAt  pbs.Time     `cbor:"36,keyasint,omitempty"` // Execution_Time: it waits until then
	Depends Dependencies `cbor:"37,keyasint,omitempty"` // on other jobs, and theirs on this one
	Accrued *Accrual     `cbor:"38,keyasint,omitempty"` // eligible_time; replaced, never written to

	Reservation  pbs.ReservationID `cbor:"42,keyasint,omitempty"` // whose queue it is in
	ReservedName string            `cbor:"43,keyasint,omitempty"` // that one's Reserve_Name, for records that come after it

	Pending *Pending `cbor:"47,keyasint,omitempty"` // what is kept for it while it waits; nil: nothing is, nor was; replaced, never written to

	Output pbs.HostName `cbor:"49,keyasint,omitempty"` // mother superior of the last run that was sent back to the queue, which has what it wrote; empty: none was

	Forget bool `cbor:"48,keyasint,omitempty"` // it does not come into the history: qdel -x while it ran
}

// Ending says what is to become of a job when its mom reports the end of its run.
type Ending uint8

// The endings.
const (
	EndingDelete Ending = iota + 1 // qdel: it is finished
	EndingRerun                    // qrerun: it is queued again
)

// A HostRun is one run on one host.
type HostRun struct {
	Host     pbs.HostName `cbor:"1,keyasint"`
	RunCount pbs.RunCount `cbor:"2,keyasint"`
	// Idle says that nothing of the run can live there, since its program was never started: nobody waits for the
	// host while it is down.
	Idle bool `cbor:"3,keyasint,omitempty"`
}

// String returns the run as HOST@RUN, as logs have it.
func (r HostRun) String() string {
	text := fmt.Sprintf("%s@%d", r.Host, r.RunCount)
	if r.Idle {
		text += " idle"
	}
	return text
}

// Same reports whether two are the same run on the same host.
func (r HostRun) Same(o HostRun) bool { return r.Host == o.Host && r.RunCount == o.RunCount }

// Script is the script of a job, until the job is over: its body, or the name of the blob that it is.
type Script struct {
	Job  pbs.JobID `cbor:"1,keyasint"`
	Body []byte    `cbor:"2,keyasint,omitempty"`
	Blob *pbs.Blob `cbor:"3,keyasint,omitempty"`
}

// OrderKind says what a mom is to do.
type OrderKind uint8

// The kinds of order. The numbers are in every log and snapshot: append only.
const (
	OrderRun OrderKind = iota + 1
	OrderSignal
	OrderKill
	OrderForget
	OrderAlter
	OrderMessage
	OrderCheckpoint // checkpoint the job and end it
	OrderDiscard    // drop what is kept of its checkpoint
	OrderRelease
)

// Order is an effect on a mom that was committed and not yet confirmed (L9).
type Order struct {
	Host     pbs.HostName `cbor:"1,keyasint"`
	ID       pbs.OrderID  `cbor:"2,keyasint"`
	Kind     OrderKind    `cbor:"3,keyasint"`
	Job      pbs.JobID    `cbor:"4,keyasint"`
	RunCount pbs.RunCount `cbor:"5,keyasint"`
	Signal   string       `cbor:"6,keyasint,omitempty"` // OrderSignal: name without SIG, or a number
	Delay    int64        `cbor:"7,keyasint,omitempty"` // OrderKill: seconds from SIGTERM to SIGKILL
	Requeue  bool         `cbor:"8,keyasint,omitempty"` // OrderKill: the job will run again
	Created  pbs.Time     `cbor:"9,keyasint,omitempty"`
	Changes  attr.List    `cbor:"10,keyasint,omitempty"` // OrderAlter: the new values
	Text     string       `cbor:"11,keyasint,omitempty"` // OrderMessage: the line
	Output   bool         `cbor:"12,keyasint,omitempty"` // OrderMessage: into standard output
	Error    bool         `cbor:"13,keyasint,omitempty"` // OrderMessage: into standard error
	Number   uint64       `cbor:"20,keyasint,omitempty"` // OrderRelease: rises within a run
	Step     ReleaseStep  `cbor:"21,keyasint,omitempty"` // OrderRelease
	Left     bool         `cbor:"22,keyasint,omitempty"` // OrderKill: the run goes on without the host
}

// Request is the remembered outcome of a request (L8).
type Request struct {
	Asker   pbs.User      `cbor:"1,keyasint"`
	ID      pbs.RequestID `cbor:"2,keyasint"`
	Seq     uint64        `cbor:"3,keyasint"`
	At      pbs.Time      `cbor:"4,keyasint"`
	Body    uint64        `cbor:"5,keyasint"` // hash of what was asked
	Result  Result        `cbor:"6,keyasint,omitempty"`
	Refusal *pbs.Error    `cbor:"7,keyasint,omitempty"`
}

// Result is what a proposal returns to its caller.
type Result struct {
	Job   pbs.JobID    `cbor:"1,keyasint,omitempty"`
	Order pbs.OrderID  `cbor:"2,keyasint,omitempty"`
	Host  pbs.HostName `cbor:"3,keyasint,omitempty"` // of Order
	Acked uint64       `cbor:"4,keyasint,omitempty"`
	Epoch uint64       `cbor:"5,keyasint,omitempty"`

	Requeued uint32 `cbor:"6,keyasint,omitempty"` // jobs of a host that was given up
	Finished uint32 `cbor:"7,keyasint,omitempty"` // such as are not rerunnable

	Overwritten bool `cbor:"12,keyasint,omitempty"` // a hook's file was there before

	Run pbs.RunCount `cbor:"13,keyasint,omitempty"` // that Order is about, of a checkpoint

	Release uint64 `cbor:"20,keyasint,omitempty"` // number of the release that was asked for; 0: there is nothing to wait for

	Reservation pbs.ReservationID `cbor:"21,keyasint,omitempty"` // that was made
}

// Tombstone remembers a deleted job for those who watch (design section 4).
type Tombstone struct {
	Job        pbs.JobID `cbor:"1,keyasint"`
	Index      uint64    `cbor:"2,keyasint"`
	At         pbs.Time  `cbor:"3,keyasint"`
	ExitStatus int32     `cbor:"4,keyasint,omitempty"`
	HasExited  bool      `cbor:"5,keyasint,omitempty"` // ExitStatus means something
	Owner      pbs.User  `cbor:"6,keyasint,omitempty"` // who may be told
	Finished   bool      `cbor:"7,keyasint,omitempty"` // by an earlier entry: it went out of the history
}

// ResourceDef is a custom resource as qmgr made it.
type ResourceDef struct {
	Def resource.Def `cbor:"1,keyasint"`
}
