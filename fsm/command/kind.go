package command

import "reflect"

// Kind is the number of a kind of command in the log.
type Kind uint16

// kinds is the vocabulary of the log. The numbers are on disk in every cluster:
// append, never renumber, never reuse.
var kinds = map[Kind]func() Command{
	1:  func() Command { return new(InitCluster) },
	2:  func() Command { return new(TermStarted) },
	3:  func() Command { return new(TimeTick) },
	4:  func() Command { return new(ManageServer) },
	5:  func() Command { return new(ManageQueue) },
	6:  func() Command { return new(ManageVnode) },
	7:  func() Command { return new(ManageResource) },
	8:  func() Command { return new(SubmitJob) },
	9:  func() Command { return new(AlterJob) },
	10: func() Command { return new(HoldJob) },
	11: func() Command { return new(ReleaseJob) },
	12: func() Command { return new(SignalJob) },
	13: func() Command { return new(DeleteJob) },
	14: func() Command { return new(RerunJob) },
	15: func() Command { return new(StartJob) },
	16: func() Command { return new(JobStarted) },
	17: func() Command { return new(JobEnded) },
	18: func() Command { return new(HostUp) },
	19: func() Command { return new(HostDown) },
	20: func() Command { return new(OrderConfirmed) },
	21: func() Command { return new(CreateToken) },
	22: func() Command { return new(Enrol) },
	23: func() Command { return new(PutReplica) },
	24: func() Command { return new(UsageSample) },
	25: func() Command { return new(SetWaits) },
	26: func() Command { return new(HostFenced) },
	27: func() Command { return new(ForgetHost) },
	28: func() Command { return new(ShortenFence) },
	29: func() Command { return new(HostTrouble) },
	30: func() Command { return new(CompareDigests) },
	31: func() Command { return new(RaiseLevel) },
	32: func() Command { return new(RevokeToken) },
	33: func() Command { return new(RenewIdentity) },
	34: func() Command { return new(RevokeIdentity) },
	35: func() Command { return new(TurnGossipKeys) },
	36: func() Command { return new(TurnRoots) },
	37: func() Command { return new(RemoveReplica) },
	38: func() Command { return new(ReplicaLeft) },
	39: func() Command { return new(NewEpoch) },
	40: func() Command { return new(ManageSched) },
	41: func() Command { return new(StagePart) },
	42: func() Command { return new(Restore) },
	43: func() Command { return new(ReplaceReplica) },
	44: func() Command { return new(KeepReplica) },
	45: func() Command { return new(MoveJob) },
	46: func() Command { return new(SwapJobs) },
	47: func() Command { return new(MessageJob) },
	48: func() Command { return new(SetRTTClass) },
	49: func() Command { return new(HaltServers) },
	50: func() Command { return new(ScheduleBackups) },
	51: func() Command { return new(ManageHook) },
	52: func() Command { return new(ImportHook) },
	53: func() Command { return new(HooksTold) },
	54: func() Command { return new(HookTasksDone) },
	55: func() Command { return new(HookWishes) },
	56: func() Command { return new(JobExiting) },
	57: func() Command { return new(MailsDone) },
	58: func() Command { return new(PreemptJob) },
	59: func() Command { return new(CheckpointJob) },
	60: func() Command { return new(CheckpointFailed) },
	61: func() Command { return new(ReleaseNodes) },
	62: func() Command { return new(WithdrawRelease) },
	63: func() Command { return new(PruneJob) },
	64: func() Command { return new(CheckpointMade) },
	65: func() Command { return new(ForgetAccount) },
	66: func() Command { return new(ManageShares) },
	67: func() Command { return new(Reserve) },
	68: func() Command { return new(DecideReservation) },
	69: func() Command { return new(AlterReservation) },
	70: func() Command { return new(DeleteReservation) },
	71: func() Command { return new(Reconfigure) },
	72: func() Command { return new(KeepPending) },
	73: func() Command { return new(StopForLoad) },
	74: func() Command { return new(Exercise) },
}

// numbers is kinds the other way round.
var numbers = func() map[reflect.Type]Kind {
	m := make(map[reflect.Type]Kind, len(kinds))
	for k, make := range kinds {
		m[reflect.TypeOf(make())] = k
	}
	return m
}()
