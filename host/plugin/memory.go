package plugin

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// errNoMemory is the cause of a failure for want of memory.
var errNoMemory = errors.New("the memory limit is reached")

// budget bounds the memory of all instances of a runtime together.
type budget struct {
	limit int64
	used  atomic.Int64
	// evict gives up idle instances; it may be nil. It is called without any
	// lock held.
	evict func()
}

// take reserves n bytes if there is room, if need be after giving up idle
// instances.
func (b *budget) take(n int64) bool {
	if b.tryTake(n) {
		return true
	}
	if b.evict == nil {
		return false
	}
	b.evict()
	return b.tryTake(n)
}

func (b *budget) tryTake(n int64) bool {
	if b.used.Add(n) <= b.limit {
		return true
	}
	b.used.Add(-n)
	return false
}

func (b *budget) give(n int64) { b.used.Add(-n) }

// memories are the linear memories of one instance: its own and, with Extism,
// the kernel's. It is wazero's allocator for that instance. Memory lies outside
// the Go heap, where growing needs no copy, an untouched page costs nothing,
// and what an instance leaves is given back at once.
type memories struct {
	budget *budget
	most   uint64 // bytes of one memory

	mu      sync.Mutex
	prepaid int64 // taken from the budget and not yet used
	all     []*memory
	refused atomic.Bool // since the last reset
}

var _ experimental.MemoryAllocator = (*memories)(nil)

// openMemories reserves what an instance needs to start, so that starting it
// cannot fail half-way for want of memory.
func openMemories(b *budget, most uint64, start int64) (*memories, error) {
	if !b.take(start) {
		return nil, fail(ReasonMemory, errNoMemory)
	}
	return &memories{budget: b, most: most, prepaid: start}, nil
}

// started gives back what was reserved and not needed.
func (m *memories) started() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.budget.give(m.prepaid)
	m.prepaid = 0
}

// Allocate implements experimental.MemoryAllocator.
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	mem := &memory{owner: m, pages: newPages(min(most, m.most))}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, mem)
	return mem
}

// firstRefused reports whether the memory that was made first, which is the kernel's
// with Extism, could not grow.
func (m *memories) firstRefused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all) > 0 && m.all[0].refused
}

// close frees everything; the second time it does nothing. Nothing of the guest
// may be running.
func (m *memories) close() {
	m.started()
	m.mu.Lock()
	all := m.all
	m.all = nil
	m.mu.Unlock()
	for _, mem := range all {
		mem.free()
	}
}

func (m *memories) charge(n int64) bool {
	m.mu.Lock()
	fromPrepaid := min(n, m.prepaid)
	m.prepaid -= fromPrepaid
	m.mu.Unlock()
	if m.budget.take(n - fromPrepaid) {
		return true
	}
	m.mu.Lock()
	m.prepaid += fromPrepaid
	m.mu.Unlock()
	return false
}

// memory is one linear memory. A guest uses it from one goroutine at a time.
type memory struct {
	owner *memories
	pages pages
	size  uint64
	// refused says that it was not grown when it should have been.
	refused bool
}

// Reallocate implements experimental.LinearMemory: nil makes memory.grow fail
// inside the guest.
func (m *memory) Reallocate(size uint64) []byte {
	more := int64(size) - int64(m.size) //nolint:gosec // both are at most 4 GiB
	if size > m.owner.most || !m.owner.charge(more) {
		m.refuse()
		return nil
	}
	b := m.pages.resize(size)
	if b == nil {
		m.owner.budget.give(more)
		m.refuse()
		return nil
	}
	m.size = size
	return b
}

func (m *memory) refuse() {
	m.refused = true
	m.owner.refused.Store(true)
}

// Free implements experimental.LinearMemory. wazero calls it when a guest exits,
// in the middle of the call; nothing may disappear before that has unwound, so
// it is memories.close that frees.
func (m *memory) Free() {}

func (m *memory) free() {
	m.pages.free()
	m.owner.budget.give(int64(m.size)) //nolint:gosec // at most 4 GiB
}
