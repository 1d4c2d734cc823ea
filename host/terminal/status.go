package terminal

import (
	"io"
	"sync"
	"time"
)

// clearLine goes back to the start of the line and empties it.
const clearLine = "\r\x1b[2K"

// Status shows on a terminal, if it takes longer than delay, what is going on;
// done takes it away. The cursor has to be at the start of a line.
func (s *Screen) Status(text string, delay time.Duration) (done func()) {
	if !s.Terminal {
		return func() {}
	}
	stop := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		_, _ = io.WriteString(s.Out, paint(s.Color, dim, Clean(text))) // a status that cannot be shown is not missed
		<-stop
		_, _ = io.WriteString(s.Out, clearLine)
	})
	return func() {
		close(stop)
		shown.Wait()
	}
}
