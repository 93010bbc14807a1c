package drive

import (
	"errors"
	"sync"
	"sync/atomic"
)

// A Crew is a fixed set of workers that stay alive between turns, with the
// stacks and the connections that they have. Its methods are called by one
// goroutine at a time.
type Crew struct {
	team  *team
	turn  *turn // the one that the workers wait for; nil after Stop
	ended sync.WaitGroup
	watch func() // ends the watchdog
}

// A turn is released once, when its fields are set, and then read only but for
// left. The workers find the turn after it in next.
type turn struct {
	release chan struct{}
	over    bool         // no turn: the workers end
	left    atomic.Int64 // ops not handed out yet
	done    sync.WaitGroup
	next    *turn
}

func newTurn() *turn { return &turn{release: make(chan struct{})} }

// NewCrew starts len(ops) workers, which wait for the first Turn.
func NewCrew(ops []Op, o Options) *Crew {
	c := &Crew{team: newTeam(ops, o, func() {}), turn: newTurn()}
	c.team.idle.Store(true)
	c.watch = c.team.watch()
	for id := range ops {
		c.ended.Go(func() { c.worker(id, c.turn) })
	}
	return c
}

func (c *Crew) worker(id int, t *turn) {
	for {
		<-t.release
		if t.over {
			return
		}
		c.team.work(id, func() bool { return t.left.Add(-1) >= 0 })
		next := t.next
		t.done.Done()
		t = next
	}
}

// Ready allocates what the next Turn needs, so that Turn itself allocates
// nothing: for a caller who counts the allocations of the ops. Turn calls it
// otherwise.
func (c *Crew) Ready() {
	if c.turn != nil && c.turn.next == nil {
		c.turn.next = newTurn()
	}
}

// Turn runs n ops, handed out singly, and returns when all are done. After an
// error the Crew takes no more turns.
//
// Note: the ops are not divided among the workers beforehand. One slow worker
// would then lengthen every turn, which is not how a server under load waits.
func (c *Crew) Turn(n int64) (Result, error) {
	if c.turn == nil {
		return Result{}, errors.New("drive: Turn after Stop")
	}
	if c.team.stop.Load() {
		return Result{}, c.team.first
	}
	c.Ready()
	t := c.turn
	t.left.Store(n)
	t.done.Add(len(c.team.ops))
	c.team.idle.Store(false)
	close(t.release)
	t.done.Wait()
	c.team.idle.Store(true)
	c.turn = t.next
	if c.team.stop.Load() {
		return Result{}, c.team.first
	}
	return c.team.result(), nil
}

// Stop ends the workers and returns when they have ended.
func (c *Crew) Stop() {
	if c.turn == nil {
		return
	}
	c.turn.over = true
	close(c.turn.release)
	c.turn = nil
	c.ended.Wait()
	c.watch()
}
