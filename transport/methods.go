package transport

import "rampart/transport/api/apiconnect"

// An Audience says who may call a method.
type Audience uint8

// The audiences. Those of daemons want the daemon itself: a person on its host,
// for whom it vouches, is not it.
const (
	ForNobody   Audience = iota
	ForAnybody           // no certificate needed; Join brings a token of its own
	ForKnownKey          // a daemon, its certificate expired or not; only Renew
	ForReplicas          // a replica itself
	ForMoms              // a mom itself
	ForDaemons           // a daemon itself, of any role
	ForKnown             // any certificate or login token
	ForPeople            // a person, by a daemon's word or a login token
	ForVouched           // a person by a daemon's word
)

// admits reports whether the caller belongs to the audience.
func (a Audience) admits(c Caller) bool {
	daemon := c.Role.Valid() && !c.Person()
	switch {
	case a == ForAnybody:
		return true
	case a == ForKnownKey:
		return daemon
	case c.Expired:
		return false
	}
	switch a {
	case ForReplicas:
		return daemon && c.Role == RoleReplica
	case ForMoms:
		return daemon && c.Role == RoleMom
	case ForDaemons:
		return daemon
	case ForKnown:
		return daemon || c.Person()
	case ForPeople:
		return c.Person()
	case ForVouched:
		return c.Person() && c.Vouched
	default:
		return false
	}
}

// A Place is where a method is done.
type Place uint8

// The places.
const (
	AtHere   Place = iota // at the process that was asked
	AtLeader              // at the leader, wherever it was asked
)

// A Rule says who may call a method and where it is done.
type Rule struct {
	For Audience
	At  Place
}

// methods is the permission of every method there is. What it does not name is
// refused; what a person may do to which object is the service's business.
var methods = map[string]Rule{
	apiconnect.BatchSubmitProcedure:            {ForPeople, AtLeader},
	apiconnect.BatchAlterProcedure:             {ForPeople, AtLeader},
	apiconnect.BatchHoldProcedure:              {ForPeople, AtLeader},
	apiconnect.BatchReleaseProcedure:           {ForPeople, AtLeader},
	apiconnect.BatchSignalProcedure:            {ForPeople, AtLeader},
	apiconnect.BatchReleaseNodesProcedure:      {ForPeople, AtLeader},
	apiconnect.BatchDeleteProcedure:            {ForPeople, AtLeader},
	apiconnect.BatchRerunProcedure:             {ForPeople, AtLeader},
	apiconnect.BatchMoveProcedure:              {ForPeople, AtLeader},
	apiconnect.BatchSwapProcedure:              {ForPeople, AtLeader},
	apiconnect.BatchRunProcedure:               {ForPeople, AtLeader},
	apiconnect.BatchMessageProcedure:           {ForPeople, AtLeader},
	apiconnect.BatchPeekProcedure:              {ForPeople, AtHere},
	apiconnect.BatchFollowOutputProcedure:      {ForPeople, AtHere},
	apiconnect.BatchReserveProcedure:           {ForPeople, AtLeader},
	apiconnect.BatchAlterReservationProcedure:  {ForPeople, AtLeader},
	apiconnect.BatchDeleteReservationProcedure: {ForPeople, AtLeader},
	apiconnect.SisterJoinProcedure:             {ForMoms, AtHere},
	apiconnect.SisterPrologueProcedure:         {ForMoms, AtHere},
	apiconnect.SisterUpdateProcedure:           {ForMoms, AtHere},
	apiconnect.SisterEndProcedure:              {ForMoms, AtHere},
	apiconnect.SisterPollProcedure:             {ForMoms, AtHere},
	apiconnect.SisterSignalProcedure:           {ForMoms, AtHere},
	apiconnect.SisterCheckpointProcedure:       {ForMoms, AtHere},
	apiconnect.SisterRestartProcedure:          {ForMoms, AtHere},
	apiconnect.SisterSpawnProcedure:            {ForMoms, AtHere},
	apiconnect.SisterFollowProcedure:           {ForMoms, AtHere},
	apiconnect.HaltStopProcedure:               {ForPeople, AtLeader},
	apiconnect.HaltEndProcedure:                {ForReplicas, AtHere},
	apiconnect.BatchManageProcedure:            {ForPeople, AtLeader},
	apiconnect.BatchImportHookProcedure:        {ForPeople, AtLeader},
	apiconnect.BatchExportHookProcedure:        {ForPeople, AtLeader},
	apiconnect.BatchConfigureProcedure:         {ForPeople, AtLeader},
	apiconnect.BatchConfigurationProcedure:     {ForPeople, AtHere},
	apiconnect.BatchListProcedure:              {ForKnown, AtHere}, // served locally (L11)
	apiconnect.BatchExplainProcedure:           {ForKnown, AtHere},
	apiconnect.BatchLoadProcedure:              {ForKnown, AtLeader}, // which moms tell it
	apiconnect.BatchJobScriptProcedure:         {ForPeople, AtHere},
	apiconnect.BatchWatchProcedure:             {ForKnown, AtHere},
	apiconnect.BatchAttachProcedure:            {ForPeople, AtHere}, // the state knows whose job it is

	apiconnect.ClusterStatusProcedure:       {ForKnown, AtHere}, // must answer without a leader
	apiconnect.ClusterTransferProcedure:     {ForPeople, AtLeader},
	apiconnect.ClusterSaveSnapshotProcedure: {ForPeople, AtHere}, // of the asked replica's state
	apiconnect.ClusterCreateTokenProcedure:  {ForPeople, AtLeader},
	apiconnect.ClusterJoinProcedure:         {ForAnybody, AtLeader},
	apiconnect.ClusterRenewProcedure:        {ForKnownKey, AtLeader}, // which puts the leaf on record
	apiconnect.ClusterAddReplicaProcedure:   {ForReplicas, AtLeader},
	apiconnect.ClusterLoginProcedure:        {ForVouched, AtHere}, // a login token does not prolong itself
	apiconnect.ClusterForgetHostProcedure:   {ForPeople, AtLeader},
	apiconnect.ClusterReadIndexProcedure:    {ForReplicas, AtLeader},
	apiconnect.ClusterClockProcedure:        {ForReplicas, AtHere},
	apiconnect.ClusterLastStartProcedure:    {ForReplicas, AtHere}, // before there is a leader
	apiconnect.ClusterRecordsProcedure:      {ForReplicas, AtHere},
	apiconnect.ClusterJobRecordsProcedure:   {ForPeople, AtHere}, // each replica has its own files

	apiconnect.TrustListTokensProcedure:        {ForPeople, AtLeader},
	apiconnect.TrustRevokeTokenProcedure:       {ForPeople, AtLeader},
	apiconnect.TrustListCertificatesProcedure:  {ForPeople, AtLeader},
	apiconnect.TrustRevokeCertificateProcedure: {ForPeople, AtLeader},
	apiconnect.TrustForgetAccountProcedure:     {ForPeople, AtLeader},
	apiconnect.TrustRecallAccountProcedure:     {ForDaemons, AtHere}, // when the directory hangs, so may the leader
	apiconnect.TrustPresentProcedure:           {ForReplicas, AtLeader},
	apiconnect.TrustNewsProcedure:              {ForDaemons, AtLeader},
	apiconnect.TrustTurnGossipKeyProcedure:     {ForPeople, AtLeader},
	apiconnect.TrustTurnCAProcedure:            {ForPeople, AtLeader},
	apiconnect.TrustKeyOfCAProcedure:           {ForReplicas, AtHere},

	apiconnect.MembersRemoveReplicaProcedure: {ForPeople, AtLeader},
	apiconnect.MembersRTTClassProcedure:      {ForPeople, AtLeader},
	apiconnect.MembersStandingProcedure:      {ForAnybody, AtHere}, // its certificate counts no more

	apiconnect.RecoveryLogEndProcedure:  {ForReplicas, AtHere},
	apiconnect.RecoveryRecoverProcedure: {ForKnown, AtHere}, // without a leader; a replica relays it

	apiconnect.SnapshotsStageSnapshotProcedure:   {ForPeople, AtLeader},
	apiconnect.SnapshotsStageBlobProcedure:       {ForPeople, AtLeader},
	apiconnect.SnapshotsRestoreSnapshotProcedure: {ForPeople, AtLeader},
	apiconnect.SnapshotsScheduleBackupsProcedure: {ForPeople, AtLeader},
	apiconnect.SnapshotsListBackupsProcedure:     {ForPeople, AtHere}, // each replica has its own

	apiconnect.AgentDeliverProcedure:   {ForReplicas, AtHere},
	apiconnect.AgentPingProcedure:      {ForReplicas, AtHere},
	apiconnect.AgentTerminalProcedure:  {ForReplicas, AtHere},
	apiconnect.AgentPeekRunProcedure:   {ForReplicas, AtHere},
	apiconnect.AgentFollowRunProcedure: {ForReplicas, AtHere},
	apiconnect.AgentSetHooksProcedure:  {ForReplicas, AtHere},
	apiconnect.AgentEndMomProcedure:    {ForReplicas, AtHere},

	apiconnect.BlobsPutProcedure: {ForReplicas, AtHere},
	apiconnect.BlobsGetProcedure: {ForReplicas, AtHere},

	apiconnect.FilesPutProcedure:      {ForMoms, AtHere}, // for a run of the asking mom: Staging.Permit
	apiconnect.FilesGetProcedure:      {ForMoms, AtHere},
	apiconnect.StagingLocateProcedure: {ForMoms, AtHere},
	apiconnect.StagingPermitProcedure: {ForDaemons, AtHere},

	apiconnect.ReportRegisterProcedure: {ForMoms, AtLeader},
	apiconnect.ReportFactsProcedure:    {ForMoms, AtLeader},
	apiconnect.ReportSamplesProcedure:  {ForMoms, AtLeader},
	apiconnect.ReportLeaseProcedure:    {ForMoms, AtLeader},
	apiconnect.ReportScriptProcedure:   {ForMoms, AtHere},
	apiconnect.ReportPruneProcedure:    {ForMoms, AtLeader},
}

// endless are the methods whose requests are streams of any length. Their servers bound what they keep of one.
var endless = map[string]bool{apiconnect.FilesPutProcedure: true, apiconnect.BlobsPutProcedure: true}

// twoWay reports whether the caller of a method goes on talking while it is answered: what
// he says cannot be kept for another attempt, and has no end that could be bounded.
func twoWay(path string) bool {
	return path == apiconnect.BatchAttachProcedure || path == apiconnect.AgentTerminalProcedure
}

// RuleOf returns the rule of a procedure ("/rampart.v1.Batch/Submit").
func RuleOf(procedure string) (Rule, bool) {
	r, ok := methods[procedure]
	return r, ok
}
