package sim

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	"fmt"
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// scratch returns a folder for the homes: in memory if the machine has such a place. Its name has the process that will remove it.
func scratch() (string, error) {
	name := fmt.Sprintf("rampart-sim-%d-", os.Getpid())
	if dir, err := os.MkdirTemp("/dev/shm", name); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", name)
}

// played is the folder of the scenario that is played.
var played atomic.Pointer[string]

// Clear removes the folder of the scenario that is being played, for a process that ends before Play has returned.
func Clear() {
	dir := played.Swap(nil)
	if dir == nil {
		return
	}
	for range 10 { // its daemons may be writing
		if os.RemoveAll(*dir) == nil {
			return
		}
	}
}

// setProcess gives the process the zone of the cluster, in which its daemons write their logs, the chance of a
// seed, from which raft and memberlist draw their waits, no pbs.conf of the machine that plays, and one processor: what
// is due at the same moment is done in another order by several. The files of LSF that badmin reconfig reads are those of the
// scenario. The function that it returns takes all that back.
func setProcess(zone *time.Location, seed uint64, files string) func() {
	local := time.Local
	time.Local = zone
	var back []func()
	for name, value := range map[string]string{
		"PBS_CONF_FILE": os.DevNull, "LSF_ENVDIR": files, "GODEBUG": strings.TrimPrefix(os.Getenv("GODEBUG")+",randseednop=0", ","),
	} {
		before, set := os.LookupEnv(name)
		_ = os.Setenv(name, value)
		back = append(back, func() {
			if _ = os.Setenv(name, before); !set {
				_ = os.Unsetenv(name)
			}
		})
	}
	draw(seed)
	reader := cryptorand.Reader // of names and epochs; keys are not from it
	cryptorand.Reader = &dice{seed: seed, draws: make(map[int]*randv2.ChaCha8)}
	processors, garbage := runtime.GOMAXPROCS(1), debug.SetGCPercent(400) // it is gone with the scenario
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(garbage)
		time.Local, cryptorand.Reader = local, reader
		for _, take := range back {
			take()
		}
	}
}

// draw has the source go on from a seed that raft and memberlist draw from.
func draw(seed uint64) {
	//lint:ignore SA1019 it is this source
	rand.Seed(int64(seed))
}

// dice is a source of bytes for any number of goroutines. Those who want as many have a source of their own: how many requests have a
// name so far, of which the order may differ, is nothing to an epoch.
type dice struct {
	mu    sync.Mutex
	seed  uint64
	draws map[int]*randv2.ChaCha8
}

// Read implements io.Reader.
func (d *dice) Read(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	draws := d.draws[len(b)]
	if draws == nil {
		var key [32]byte
		binary.LittleEndian.PutUint64(key[:], d.seed)
		binary.LittleEndian.PutUint64(key[8:], uint64(len(b)))
		draws = randv2.NewChaCha8(key)
		d.draws[len(b)] = draws
	}
	return draws.Read(b)
}
