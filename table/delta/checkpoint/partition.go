package checkpoint

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/table/delta/meta"
)

// Partitions gives partition values small numbers. 0 stands for unknown:
// an action without partitionValues. Safe for concurrent use.
type Partitions struct {
	columns []meta.Column
	mu      sync.RWMutex
	byText  map[string]int32 // by the JSON text of an action
	byValue map[string]int32 // by the values themselves
	tuples  []lake.Partition // [0] is nil
}

// NewPartitions returns an empty table of values of columns.
func NewPartitions(columns []meta.Column) *Partitions {
	return &Partitions{columns: columns, byText: map[string]int32{}, byValue: map[string]int32{}, tuples: []lake.Partition{nil}}
}

// Interner returns a function that interns the JSON object of partitionValues.
// It remembers the last one, since neighbours mostly share theirs; one
// goroutine may use it.
func (p *Partitions) Interner() func(raw []byte) (int32, error) {
	if p == nil {
		return nil
	}
	var last []byte
	var lastID int32
	return func(raw []byte) (int32, error) {
		if lastID != 0 && bytes.Equal(raw, last) {
			return lastID, nil
		}
		id, err := p.text(raw)
		last, lastID = append(last[:0], raw...), id
		return id, err
	}
}

func (p *Partitions) text(raw []byte) (int32, error) {
	p.mu.RLock()
	id, ok := p.byText[string(raw)]
	p.mu.RUnlock()
	if ok {
		return id, nil
	}
	var values map[string]*string
	if err := json.Unmarshal(raw, &values); err != nil {
		return 0, fmt.Errorf("partitionValues: %w", err)
	}
	id = p.add(values)
	p.mu.Lock()
	p.byText[string(raw)] = id
	p.mu.Unlock()
	return id, nil
}

// add interns values by physical column name. Columns that have none are left
// out; null and "" are NULL.
func (p *Partitions) add(values map[string]*string) int32 {
	tuple := lake.Partition{}
	var key strings.Builder
	for _, c := range p.columns {
		v, ok := values[c.Physical]
		if !ok {
			key.WriteByte('-')
			continue
		}
		pv := lake.PartitionValue{Column: c.Name, Null: v == nil || *v == ""}
		if !pv.Null {
			pv.Value = strings.Clone(*v)
		}
		fmt.Fprintf(&key, "%d:%s", len(pv.Value), pv.Value)
		tuple = append(tuple, pv)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id, ok := p.byValue[key.String()]
	if !ok {
		id = int32(len(p.tuples))
		p.tuples = append(p.tuples, tuple)
		p.byValue[key.String()] = id
	}
	return id
}

// Tuple returns interned values.
func (p *Partitions) Tuple(id int32) lake.Partition {
	if p == nil {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.tuples[id]
}
