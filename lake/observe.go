package lake

// Event is a step of progress within a stage of a run.
type Event struct {
	Stage    string // "replay", "list", "join", "write", "delete", …
	Done     int64  // objects so far, never falling within a stage
	Expected int64  // objects expected in all; 0 if unknown
	Finished bool   // the last event of the stage
}

// Observer receives events. It is called by many goroutines and must be quick.
// Rooms call it through Observer.Emit, so nil is a valid Observer.
type Observer func(Event)

// Emit passes e on, if there is anybody to listen.
func (o Observer) Emit(e Event) {
	if o != nil {
		o(e)
	}
}
