package store

// How much room a disk has left, in bytes.
const (
	// Reserve is what a replica wants to find free before its Raft starts: room for its
	// start, its votes and some entries. Below it, it would fail at once.
	Reserve = 16 << 20
	// Low is what one more snapshot's worth of log may take. With less, a leader hands
	// over, and the bytes from here down to Reserve are kept for what must go on. Enough
	// ends that.
	Low    = 64 << 20
	Enough = Low + Low/2
)

// Disk is the condition of the disk that log and stable store are on.
type Disk struct {
	WriteLatency
	Free int64 // bytes; -1: not known
	// Low is set when less than 64 MiB are free, until 96 are again.
	Low bool
	Dir string
}

// Well reports whether the disk is good enough for a leader: one with a worse disk may hand over to its replica.
func (d Disk) Well() bool { return !d.Sick && !d.Low && d.P99 <= fineWrite }

// Fails reports whether another disk would make a better leader's.
func (d Disk) Fails() bool { return d.Sick || d.Low }

// Spent reports whether nothing is left of the reserve.
func (d Disk) Spent() bool { return d.Free >= 0 && d.Free < Reserve }

// Disk returns the condition of the disk, with the room that was last found.
func (s *Store) Disk() Disk {
	return Disk{WriteLatency: s.guard.took.present(), Free: s.free.Load(), Low: s.low.Load(), Dir: s.Dir()}
}

// Look asks the backend for its room and returns the condition of the disk.
func (s *Store) Look() Disk {
	free, err := s.Room()
	if err != nil {
		s.logger.Warn("cannot tell how much room there is", "err", err)
		free = -1
	}
	s.free.Store(free)
	room := free
	if free >= Reserve { // enough for a snapshot, by which the log file gets free pages
		room += min(s.Reusable(), Enough)
	}
	if room >= 0 && room < Low {
		s.low.Store(true)
	} else if room < 0 || room >= Enough {
		s.low.Store(false)
	}
	return s.Disk()
}
