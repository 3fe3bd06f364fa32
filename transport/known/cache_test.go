package known

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errNobody = errors.New("nobody")

// A service answers from a table; while it hangs it answers nobody.
type service struct {
	mu    sync.Mutex
	table map[string]string
	hangs bool
	mute  string // of this key it says nothing
	asked map[string]int
	told  []string
}

func (s *service) ask(ctx context.Context, key string) (string, error) {
	s.mu.Lock()
	s.asked[key]++
	v, ok, hangs := s.table[key], s.table[key] != "", s.hangs || key == s.mute
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if !ok {
		return "", errNobody
	}
	return v, nil
}

func (s *service) hang(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = yes
}

func newService(t *testing.T, opts Options[string]) (*service, *Cache[string]) {
	s := &service{table: map[string]string{"joe": "1000", "ann": "1001"}, asked: map[string]int{}}
	opts.Ask, opts.No, opts.Fresh = s.ask, func(err error) bool { return errors.Is(err, errNobody) }, time.Minute
	opts.Told = func(_ time.Time, err error) {
		word := "answers"
		if err != nil {
			word = "silent"
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told = append(s.told, word)
	}
	c := New(opts)
	t.Cleanup(c.Close)
	return s, c
}

// took returns what Get says, and how long it took.
func took(t *testing.T, c *Cache[string], key string) (string, time.Duration, error) {
	begin := time.Now()
	v, err := c.Get(t.Context(), key)
	return v, time.Since(begin), err
}

// What is known stays good for a day while the service hangs, and nobody waits for it; who was
// never heard of is told so in two seconds.
func TestCache_Hangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newService(t, Options[string]{})
		if v, _, err := took(t, c, "joe"); v != "1000" || err != nil {
			t.Fatalf("joe: %q, %v", v, err)
		}
		s.hang(true)
		time.Sleep(62 * time.Second)
		if v, d, err := took(t, c, "joe"); v != "1000" || err != nil || d > patienceKnown {
			t.Errorf("known: %q, %v after %v", v, err, d)
		}
		for _, most := range []time.Duration{patienceNew, 0} { // who asks again is told at once
			if _, d, err := took(t, c, "ann"); !errors.Is(err, ErrSilent) || d > most {
				t.Errorf("unknown: %v after %v", err, d)
			}
		}
		for range 23 {
			if v, d, err := took(t, c, "joe"); v != "1000" || err != nil || d != 0 {
				t.Errorf("known while the service is silent: %q, %v after %v", v, err, d)
			}
			time.Sleep(time.Hour)
		}
		if silent := c.Silent(); silent.Err == nil || time.Since(silent.Since) < 23*time.Hour {
			t.Errorf("silent: %+v", silent)
		}
		time.Sleep(time.Hour)
		if _, _, err := took(t, c, "joe"); !errors.Is(err, ErrSilent) {
			t.Errorf("after a day: %v", err)
		}
		s.hang(false)
		time.Sleep(questionLife + 2*again)
		s.mu.Lock()
		if c.Silent().Err != nil || strings.Join(s.told, " ") != "silent answers" {
			t.Errorf("back: %+v, told %v", c.Silent(), s.told)
		}
		s.mu.Unlock()
		if v, _, err := took(t, c, "joe"); v != "1000" || err != nil {
			t.Errorf("back: %q, %v", v, err)
		}
	})
}

// One key to which there is no answer is no silence of the service: it costs those who ask for others nothing, and
// those who ask for it again no more than each question does.
func TestCache_OneKeyWithoutAnAnswer(t *testing.T) {
	for _, before := range []bool{false, true} { // whether it was known
		synctest.Test(t, func(t *testing.T) {
			s, c := newService(t, Options[string]{})
			names := []string{"joe", "ann"}
			s.table["bob"] = "1002"
			if before {
				names = append(names, "bob")
			}
			for _, name := range names {
				if _, _, err := took(t, c, name); err != nil {
					t.Fatal(err)
				}
			}
			s.mu.Lock()
			s.mute = "bob"
			s.mu.Unlock()
			time.Sleep(2 * time.Minute)
			waited := time.Duration(0)
			for n := range 600 {
				v, d, err := took(t, c, "bob")
				if waited += d; d > patienceNew || before && v != "1002" || !before && !errors.Is(err, ErrSilent) {
					t.Fatalf("bob, known %t, %d: %q, %v after %v", before, n, v, err, d)
				}
				if v, d, err := took(t, c, "joe"); v != "1000" || err != nil || d != 0 {
					t.Fatalf("joe: %q, %v after %v", v, err, d)
				}
				if c.Silent().Err != nil {
					t.Fatalf("known %t, %d: the service is taken for silent: %v", before, n, c.Silent())
				}
				time.Sleep(time.Second)
			}
			s.mu.Lock()
			most := time.Duration(s.asked["bob"]) * patienceNew
			if before {
				most = patienceKnown
			}
			if s.asked["bob"] > 20 || waited > most {
				t.Errorf("known %t: asked for bob %d times in ten minutes, which cost %v", before, s.asked["bob"], waited)
			}
			s.hangs = true
			s.mu.Unlock()
			begun := time.Now()
			time.Sleep(time.Minute)
			_, _, _ = took(t, c, "joe")
			time.Sleep(2 * patienceNew)
			if silent := c.Silent(); silent.Err == nil || silent.Since.Before(begun) {
				t.Errorf("known %t: the service is silent since %v: %+v", before, begun, silent)
			}
			s.mu.Lock()
			s.hangs, s.mute = false, ""
			s.mu.Unlock()
			time.Sleep(questionLife + 2*again)
			if c.Silent().Err != nil {
				t.Errorf("known %t: still silent", before)
			}
			if v, _, err := took(t, c, "bob"); v != "1002" || err != nil {
				t.Errorf("known %t: bob is back: %q, %v", before, v, err)
			}
		})
	}
}

// Many who ask for one key ask one question, and nobody waits for another's.
func TestCache_OneQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newService(t, Options[string]{})
		if _, _, err := took(t, c, "joe"); err != nil {
			t.Fatal(err)
		}
		s.hang(true)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, d, err := took(t, c, "ann"); !errors.Is(err, ErrSilent) || d != patienceNew {
					t.Errorf("%v after %v", err, d)
				}
			})
		}
		wg.Go(func() {
			if v, d, err := took(t, c, "joe"); v != "1000" || err != nil || d != 0 {
				t.Errorf("joe waits for ann: %q, %v after %v", v, err, d)
			}
		})
		wg.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.asked["ann"] != 1 {
			t.Errorf("asked for ann %d times", s.asked["ann"])
		}
	})
}

// News of what is known is taken at once while the service answers.
func TestCache_News(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newService(t, Options[string]{})
		for _, now := range []string{"1000", "2000", ""} {
			s.mu.Lock()
			s.table["joe"] = now
			s.mu.Unlock()
			v, _, err := took(t, c, "joe")
			if v != now || (err == nil) != (now != "") {
				t.Errorf("%q is %q, %v", now, v, err)
			}
			time.Sleep(61 * time.Second)
		}
	})
}

// An answer that is void is not given, whoever is silent; what others have on record is.
func TestCache_VoidAndRecalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forgotten := time.Time{}
		begin := time.Now()
		s, c := newService(t, Options[string]{
			Void:   func(v string, then time.Time) bool { return v == "1000" && then.Before(forgotten) },
			Recall: func(key string) (string, time.Time, bool) { return "77", begin, key == "old" },
			Keep:   func(v string) time.Duration { return map[string]time.Duration{"77": 30 * Day}[v] + Day },
		})
		if _, _, err := took(t, c, "joe"); err != nil {
			t.Fatal(err)
		}
		s.hang(true)
		time.Sleep(time.Second)
		forgotten = time.Now()
		if v, _, err := took(t, c, "joe"); !errors.Is(err, ErrSilent) {
			t.Errorf("forgotten: %q, %v", v, err)
		}
		time.Sleep(29 * Day)
		if v, _, err := took(t, c, "old"); v != "77" || err != nil {
			t.Errorf("recalled: %q, %v", v, err)
		}
	})
}

// What is in use is asked for again unasked, so that a silence finds it young.
func TestCache_Renews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newService(t, Options[string]{})
		if _, _, err := took(t, c, "joe"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Hour)
		s.hang(true)
		time.Sleep(20 * time.Hour)
		if v, _, err := took(t, c, "joe"); v != "1000" || err != nil {
			t.Errorf("known 40 hours ago, confirmed 20 hours ago: %q, %v", v, err)
		}
	})
}
