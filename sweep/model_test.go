package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/lakesweep/lakesweep/store/mem"
)

// model is a writer of a Delta table and its own slow, obvious oracle: it
// remembers the files of every version. It shares no code with table/delta.
type model struct {
	rng        *rand.Rand
	st         *mem.Store
	now        time.Time
	clock      atomic.Int64 // now, for those who run beside the writer
	versions   []version
	firstLog   int // the oldest commit still in the log
	made       int
	elsewhere  *mem.Store // journals
	property   time.Duration
	inCommit   bool            // in-commit timestamps
	lostBefore map[string]bool // gone by earlier vacuums with shorter retention
}

// version is one version: its commit time, and all files with their deletion vectors.
type version struct {
	at    time.Time
	files map[string]string // decoded path → key of the DV's file, "" without
	ids   map[string]string // path → pathOrInlineDv of its DV
	cdc   []string
}

var partitionNames = []string{"p=1", "p=10", "p=a b%3Ac", "p=%2541", "p=é", "p=__HIVE_DEFAULT_PARTITION__", "x y#1"}

func newModel(seed uint64) *model {
	m := &model{rng: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), property: 24 * time.Hour, lostBefore: map[string]bool{}}
	m.pass(0)
	m.st = mem.New(mem.Options{Now: m.time})
	m.elsewhere = mem.New(mem.Options{})
	m.inCommit = m.rng.IntN(3) == 0
	config := map[string]string{"delta.deletedFileRetentionDuration": "interval 1 day"}
	features := []string{"deletionVectors"}
	if m.inCommit {
		config["delta.enableInCommitTimestamps"] = "true"
		features = append(features, "inCommitTimestamp")
	}
	m.commit(version{files: map[string]string{}, ids: map[string]string{}},
		map[string]any{"protocol": map[string]any{"minReaderVersion": 3, "minWriterVersion": 7,
			"readerFeatures": []string{"deletionVectors"}, "writerFeatures": features}},
		map[string]any{"metaData": map[string]any{"id": "model", "format": map[string]any{"provider": "parquet", "options": map[string]any{}},
			"schemaString":     `{"type":"struct","fields":[{"name":"p","type":"string","nullable":true,"metadata":{}},{"name":"v","type":"long","nullable":true,"metadata":{}}]}`,
			"partitionColumns": []string{"p"}, "configuration": config}})
	return m
}

func (m *model) last() version { return m.versions[len(m.versions)-1] }

// pass lets time pass.
func (m *model) pass(d time.Duration) {
	m.now = m.now.Add(d)
	m.clock.Store(m.now.UnixNano())
}

// time is the clock of the store and of engines, which run beside the writer.
func (m *model) time() time.Time { return time.Unix(0, m.clock.Load()).UTC() }

// tick lets time pass: mostly minutes, sometimes days.
func (m *model) tick() {
	m.pass(time.Duration(1+m.rng.IntN(90)) * time.Minute)
	if m.rng.IntN(4) == 0 {
		m.pass(time.Duration(m.rng.IntN(40)) * time.Hour)
	}
}

// encode spells a path as some writer would: Java's minimum, or more of it.
func (m *model) encode(path string) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		switch {
		case c == '%' || c == ' ' || c == '#' || c == '"':
			fmt.Fprintf(&b, "%%%02X", c)
		case c == '=' && m.made%3 == 0, c >= 0x80 && m.made%2 == 0:
			fmt.Fprintf(&b, "%%%02x", c)
		default:
			b.WriteByte(c)
		}
	}
	if m.made%7 == 0 {
		return "mem://x/t/" + b.String()
	}
	return b.String()
}

func (m *model) write(name string) string {
	m.made++
	dir := partitionNames[m.rng.IntN(len(partitionNames))] + "/"
	if m.rng.IntN(6) == 0 {
		dir = ""
	}
	path := fmt.Sprintf("%s%s-%06d", dir, name, m.made)
	m.st.Put(path, []byte("data"), m.now)
	return path
}

// z85 writes bytes as the deletion vector descriptors do.
func z85(b []byte) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	var out []byte
	for ; len(b) > 0; b = b[4:] {
		v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		var five [5]byte
		for i := 4; i >= 0; i-- {
			five[i] = alphabet[v%85]
			v /= 85
		}
		out = append(out, five[:]...)
	}
	return string(out)
}

// vector writes a deletion vector's file and returns its key and descriptor text.
func (m *model) vector() (key, text string) {
	m.made++
	id := make([]byte, 16)
	for i := range id {
		id[i] = byte(m.rng.UintN(256))
	}
	prefix := []string{"", "ab"}[m.rng.IntN(2)]
	key = fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	if prefix != "" {
		key = prefix + "/" + key
	}
	m.st.Put(key, []byte("dv"), m.now)
	return key, prefix + z85(id)
}

func descriptor(text string) any {
	if text == "" {
		return nil
	}
	return map[string]any{"storageType": "u", "pathOrInlineDv": text, "offset": 1, "sizeInBytes": 2, "cardinality": 1}
}

// action makes an add or a remove of a path. The spelling of a path never changes, as keys of the log are its bytes.
func (m *model) action(kind, path, dv string, spelled map[string]string) map[string]any {
	a := map[string]any{"path": spelled[path], "dataChange": true, "size": 4, "partitionValues": map[string]any{"p": "1"}}
	if d := descriptor(dv); d != nil {
		a["deletionVector"] = d
	}
	if kind == "add" {
		a["modificationTime"] = m.now.UnixMilli()
	} else {
		a["deletionTimestamp"] = m.now.Add(-time.Duration(m.rng.IntN(50)) * time.Hour).UnixMilli()
		a["extendedFileMetadata"] = true
		if m.rng.IntN(8) == 0 {
			delete(a, "deletionTimestamp")
		}
	}
	return map[string]any{kind: a}
}

func (m *model) commit(v version, actions ...map[string]any) {
	m.sync()
	v.at = m.now
	info := map[string]any{"timestamp": m.now.UnixMilli(), "operation": "WRITE"}
	if m.inCommit {
		info["inCommitTimestamp"] = m.now.UnixMilli()
	}
	var body bytes.Buffer
	for _, a := range append([]map[string]any{{"commitInfo": info}}, actions...) {
		line, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		body.Write(append(line, '\n'))
	}
	name := fmt.Sprintf("_delta_log/%020d.json", len(m.versions))
	if err := m.st.PutIfAbsent(context.Background(), name, body.Bytes()); err != nil {
		panic(err)
	}
	m.versions = append(m.versions, v)
}

// sync learns of versions that others committed, which must not change any file.
func (m *model) sync() {
	for {
		body := m.read(fmt.Sprintf("_delta_log/%020d.json", len(m.versions)))
		if body == nil {
			return
		}
		if bytes.Contains(body, []byte(`"add"`)) || bytes.Contains(body, []byte(`"remove"`)) {
			panic("a foreign commit changes files")
		}
		v := m.last()
		m.versions = append(m.versions, version{at: m.now, files: v.files, ids: v.ids})
	}
}

// spell fixes the spelling of a path on its first use.
func (m *model) spell(spelled map[string]string, path string) {
	if spelled[path] == "" {
		spelled[path] = m.encode(path)
	}
}

// step does one random thing to the table.
func (m *model) step(spelled map[string]string) {
	m.sync()
	v := version{files: maps.Clone(m.last().files), ids: maps.Clone(m.last().ids)}
	paths := slices.Sorted(maps.Keys(v.files))
	pick := func() string { return paths[m.rng.IntN(len(paths))] }
	var actions []map[string]any
	add := func(path string, key, text string) {
		m.spell(spelled, path)
		v.files[path], v.ids[path] = key, text
		actions = append(actions, m.action("add", path, text, spelled))
	}
	remove := func(path string) {
		actions = append(actions, m.action("remove", path, v.ids[path], spelled))
		delete(v.files, path)
		delete(v.ids, path)
	}
	switch op := m.rng.IntN(10); {
	case op < 3 || len(paths) == 0:
		var written []string
		for range 1 + m.rng.IntN(3) {
			written = append(written, m.write("part"))
		}
		m.pass(time.Duration(m.rng.IntN(20)) * time.Minute) // data first, then the commit
		if m.rng.IntN(5) == 0 {
			return // crashed in between: orphans
		}
		for _, p := range written {
			add(p, "", "")
		}
	case op < 5:
		remove(pick())
	case op == 5: // deletion vector update
		p := pick()
		key, text := m.vector()
		old := v.ids[p]
		actions = append(actions, m.action("remove", p, old, spelled))
		add(p, key, text)
	case op == 6: // compaction
		for range min(3, len(paths)) {
			p := pick()
			if _, ok := v.files[p]; ok {
				remove(p)
			}
		}
		add(m.write("compacted"), "", "")
	case op == 7: // restore of an older version whose files are all there
		old := m.versions[m.rng.IntN(len(m.versions))]
		if !m.present(old) {
			return
		}
		for _, p := range paths {
			if key, ok := old.files[p]; !ok || key != v.files[p] {
				remove(p)
			}
		}
		for p, key := range old.files {
			if have, ok := v.files[p]; !ok || have != key {
				add(p, key, old.ids[p])
			}
		}
	case op == 8:
		cdc := fmt.Sprintf("_change_data/cdc-%06d", m.made)
		m.made++
		m.st.Put(cdc, []byte("cdc"), m.now)
		v.cdc = []string{cdc}
		actions = append(actions, map[string]any{"cdc": map[string]any{"path": cdc, "partitionValues": map[string]any{}, "size": 3, "dataChange": false}})
	default:
		m.checkpoint(spelled)
		return
	}
	m.commit(v, actions...)
}

func (m *model) present(v version) bool {
	names := m.names()
	for p, dv := range v.files {
		if !names[p] || dv != "" && !names[dv] {
			return false
		}
	}
	return true
}

func (m *model) names() map[string]bool {
	out := map[string]bool{}
	for _, n := range m.st.Names() {
		out[n] = true
	}
	return out
}

// live counts what of the newest version's files and deletion vectors is there.
func (m *model) live() int64 {
	names, live := m.names(), map[string]bool{}
	for p, dv := range m.last().files {
		live[p] = names[p]
		live[dv] = names[dv]
	}
	n := int64(0)
	for _, there := range live {
		if there {
			n++
		}
	}
	return n
}

type dvRow struct {
	StorageType    string `parquet:"storageType"`
	PathOrInlineDv string `parquet:"pathOrInlineDv"`
	Offset         *int32 `parquet:"offset,optional"`
	SizeInBytes    int32  `parquet:"sizeInBytes"`
	Cardinality    int64  `parquet:"cardinality"`
}

type fileRow struct {
	Path              string            `parquet:"path"`
	PartitionValues   map[string]string `parquet:"partitionValues,optional"`
	Size              int64             `parquet:"size"`
	DeletionTimestamp *int64            `parquet:"deletionTimestamp,optional"`
	DeletionVector    *dvRow            `parquet:"deletionVector,optional"`
}

type metaRow struct {
	ID               string            `parquet:"id" json:"id"`
	SchemaString     string            `parquet:"schemaString" json:"schemaString"`
	PartitionColumns []string          `parquet:"partitionColumns,list" json:"partitionColumns"`
	Configuration    map[string]string `parquet:"configuration" json:"configuration"`
}

type protocolRow struct {
	MinReaderVersion int32    `parquet:"minReaderVersion" json:"minReaderVersion"`
	MinWriterVersion int32    `parquet:"minWriterVersion" json:"minWriterVersion"`
	ReaderFeatures   []string `parquet:"readerFeatures,list" json:"readerFeatures"`
	WriterFeatures   []string `parquet:"writerFeatures,list" json:"writerFeatures"`
}

type checkpointRow struct {
	Add      *fileRow     `parquet:"add,optional"`
	Remove   *fileRow     `parquet:"remove,optional"`
	MetaData *metaRow     `parquet:"metaData,optional"`
	Protocol *protocolRow `parquet:"protocol,optional"`
}

// logged is an action as a commit's line holds it.
type logged struct {
	Add, Remove *struct {
		Path              string
		DeletionTimestamp *int64
		DeletionVector    *struct{ PathOrInlineDv string }
	}
	MetaData *metaRow     `json:"metaData"`
	Protocol *protocolRow `json:"protocol"`
}

func (a *logged) key() [2]string {
	f := a.Add
	if f == nil {
		f = a.Remove
	}
	if f.DeletionVector == nil {
		return [2]string{f.Path, ""}
	}
	return [2]string{f.Path, f.DeletionVector.PathOrInlineDv}
}

// checkpoint writes a classic checkpoint of the last version from the log's
// own lines, drops tombstones as old as the property, and sometimes cleans
// the commits before it.
func (m *model) checkpoint(spelled map[string]string) {
	live, tombs := map[[2]string]bool{}, map[[2]string]*int64{}
	var rows []checkpointRow
	for v := range m.versions {
		body := m.read(fmt.Sprintf("_delta_log/%020d.json", v))
		if body == nil {
			return // cleaned before: this model checkpoints only while the whole log is there
		}
		adds, removes := map[[2]string]bool{}, map[[2]string]*int64{}
		for line := range strings.Lines(string(body)) {
			var a logged
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				panic(err)
			}
			switch {
			case a.Add != nil:
				adds[a.key()] = true
			case a.Remove != nil:
				removes[a.key()] = a.Remove.DeletionTimestamp
			case a.MetaData != nil:
				rows = append(rows, checkpointRow{MetaData: a.MetaData})
			case a.Protocol != nil:
				rows = append(rows, checkpointRow{Protocol: a.Protocol})
			}
		}
		for k, at := range removes {
			delete(live, k)
			tombs[k] = at
		}
		for k := range adds {
			delete(tombs, k)
			live[k] = true
		}
	}
	one := int32(1)
	file := func(path, dv string) *fileRow {
		f := &fileRow{Path: path, PartitionValues: map[string]string{"p": "1"}, Size: 4}
		if dv != "" {
			f.DeletionVector = &dvRow{StorageType: "u", PathOrInlineDv: dv, Offset: &one, SizeInBytes: 2, Cardinality: 1}
		}
		return f
	}
	for k := range live {
		rows = append(rows, checkpointRow{Add: file(k[0], k[1])})
	}
	for k, at := range tombs {
		if at == nil || *at <= m.now.Add(-m.property).UnixMilli() {
			continue // the property's limit, whatever a later vacuum asks for
		}
		f := file(k[0], k[1])
		f.DeletionTimestamp = at
		rows = append(rows, checkpointRow{Remove: f})
	}
	var body bytes.Buffer
	w := parquet.NewGenericWriter[checkpointRow](&body)
	if _, err := w.Write(rows); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	at := len(m.versions) - 1
	m.st.Put(fmt.Sprintf("_delta_log/%020d.checkpoint.parquet", at), body.Bytes(), m.now)
	if m.rng.IntN(3) == 0 {
		// Log cleanup: commits older than the checkpoint go, unless a vacuum could still want them.
		for v := m.firstLog; v < at && m.now.Sub(m.versions[v+1].at) > 30*24*time.Hour; v++ {
			if err := m.st.Remove(context.Background(), fmt.Sprintf("_delta_log/%020d.json", v), ""); err != nil {
				panic(err)
			}
			m.firstLog = v + 1
		}
	}
}

func (m *model) read(name string) []byte {
	r, err := m.st.Open(context.Background(), name, 0, -1)
	if err != nil {
		return nil
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// needed returns the names that a reader of any version that was the newest at
// some instant from cutoff on may open.
func (m *model) needed(cutoff time.Time) map[string]int {
	out := map[string]int{}
	for i, v := range m.versions {
		if i+1 < len(m.versions) && m.versions[i+1].at.Before(cutoff) {
			continue
		}
		for p, dv := range v.files {
			out[p] = i
			if dv != "" {
				out[dv] = i
			}
		}
		if !v.at.Before(cutoff) {
			for _, c := range v.cdc {
				out[c] = i
			}
		}
	}
	return out
}
