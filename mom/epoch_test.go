package mom

import (
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/transport/api"
)

// Between two epochs a mom accepts nothing, so that the list which it makes for the new one
// has every run (L2).
func TestRegister_BetweenEpochsNothingIsAccepted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		late := &api.DeliverRequest{Epoch: w.servers.epoch, Term: w.term, Orders: []*api.Order{w.run("2.srv", "sleep 1000")}}
		var tasks int
		var refused error
		w.servers.set(func(s *servers) {
			s.epoch = 8
			s.onAnew = func(r *api.RegisterRequest) {
				tasks = len(r.GetTasks())
				_, refused = w.mom.Deliver(t.Context(), connect.NewRequest(late))
			}
		})
		sleep(6 * time.Second)
		if tasks != 1 || connect.CodeOf(refused) != connect.CodeFailedPrecondition {
			t.Errorf("%d tasks were listed, an order of the earlier epoch: %v", tasks, refused)
		}
		if a := w.deliver(w.run("3.srv", "sleep 1000")); len(a) != 1 || a[0].GetRefusal() != nil {
			t.Errorf("in the new epoch: %v", a)
		}
	})
}

// Servers of a new epoch may lack what they were told: the mom says what that was.
func TestRegister_NewEpochTellsWhatIsOnRecord(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1"))
		w.deliver(w.run("2.srv", "sleep 9"), w.run("3.srv", "sleep 1000"))
		sleep(2 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 0")
		w.servers.set(func(s *servers) { s.away = true })
		sleep(10 * time.Second) // the end of the second job cannot be told
		w.servers.set(func(s *servers) {
			s.away, s.epoch = false, 8
			for spool := range s.acked {
				s.acked[spool] = 1 // the state is older than what was acknowledged
			}
		})
		sleep(6 * time.Second)
		w.servers.set(func(s *servers) {
			first, last := s.regs[0], s.regs[0]
			for _, r := range s.regs { // the first that reached the new epoch
				if last = r; len(r.GetTasks()) == 3 && r.GetTasks()[1].GetEnded() {
					break
				}
			}
			if first.GetEpoch() != 0 || last.GetEpoch() != 7 || last.GetToldSeq() != 4 {
				t.Errorf("registered from epoch %d, then from %d when fact %d was on record", first.GetEpoch(), last.GetEpoch(), last.GetToldSeq())
			}
			want := map[string][2]bool{"1.srv": {true, true}, "2.srv": {true, false}}
			for _, task := range last.GetTasks() {
				if want[task.GetJob()] != [2]bool{task.GetEnded(), task.GetTold()} {
					t.Errorf("%s: ended %v, told %v", task.GetJob(), task.GetEnded(), task.GetTold())
				}
			}
		})
		w.wants("2.srv", "1 started", "1 ended 0")
	})
}
