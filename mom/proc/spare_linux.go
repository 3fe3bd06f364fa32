package proc

import (
	"runtime"
	"sync"
)

// spareThreads is how many threads the process keeps for a time in which the host gives it none: the Go
// runtime ends a process that needs one and cannot have it, and a mom that ends so takes the host out of service.
const spareThreads = 32

// keepThreads makes the spare threads; those that are idle stay.
var keepThreads = sync.OnceFunc(func() {
	var made, done sync.WaitGroup
	made.Add(spareThreads)
	for range spareThreads {
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			made.Done()
			made.Wait()
		})
	}
	done.Wait()
})
