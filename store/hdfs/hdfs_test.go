package hdfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/store"
	"github.com/lakesweep/lakesweep/store/hdfs"
	"github.com/lakesweep/lakesweep/store/storetest"
)

func open(t *testing.T, opt hdfs.Options, place string) store.Store {
	t.Helper()
	root, err := lake.ParsePlace(place)
	if err != nil {
		t.Fatal(err)
	}
	s, err := hdfs.New(opt).Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// server returns the address of the name node that LAKESWEEP_TEST_HDFS names;
// test/servers.sh starts one.
func server(t *testing.T) string {
	t.Helper()
	address := os.Getenv("LAKESWEEP_TEST_HDFS")
	if address == "" {
		t.Skip("LAKESWEEP_TEST_HDFS names no name node")
	}
	return address
}

func TestStoreOnAServer(t *testing.T) {
	address := server(t)
	n := 0
	opener := hdfs.New(hdfs.Options{User: "tester"})
	storetest.Run(t, func(t *testing.T) store.Store {
		n++
		s, err := opener.Open(t.Context(), lake.Root{Scheme: "hdfs", Authority: address, Path: fmt.Sprintf("suite/%d-%d/a b", os.Getpid(), n)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, storetest.Options{Slow: true, PlainNames: true, NoColon: true})
}

func TestTrashOnAServer(t *testing.T) {
	address := server(t)
	user := fmt.Sprintf("tester%d", os.Getpid())
	s := open(t, hdfs.Options{User: user}, "hdfs://"+address+"/trash/"+user)
	trash := open(t, hdfs.Options{User: user}, "hdfs://"+address+"/user/"+user+"/.Trash/Current/trash/"+user)
	deletes, err := store.InTrash(store.Retry(s, store.RetryOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	move := func(name string) error {
		outcomes, err := deletes.Delete(t.Context(), []store.Target{{Name: name}})
		if err != nil {
			t.Fatal(err)
		}
		return outcomes[0].Err
	}
	for _, data := range []string{"first", "second"} { // two files of one name
		if err := s.PutIfAbsent(t.Context(), "p=1/f", []byte(data)); err != nil {
			t.Fatal(err)
		}
		if err := move("p=1/f"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Stat(t.Context(), "p=1/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	page, err := trash.List(t.Context(), store.PageRequest{Prefix: "p=1/", Dirs: true})
	if err != nil || len(page.Entries) != 2 || page.Entries[0].Name != "p=1/f" {
		t.Errorf("%+v, %v", page, err)
	}
	if err := move("p=1"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a directory went to the trash: %v", err)
	}
	if err := move("nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestACallEndsWithItsContextOnAServer(t *testing.T) {
	address := server(t)
	// A proxy that stops to hand answers on.
	silent := make(chan struct{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(out, in) }()
			go func() {
				buf := make([]byte, 4096)
				for {
					n, err := out.Read(buf)
					if err != nil {
						return
					}
					select {
					case <-silent:
						return
					default:
						_, _ = in.Write(buf[:n])
					}
				}
			}()
		}
	}()
	s := open(t, hdfs.Options{User: "tester"}, "hdfs://"+listener.Addr().String()+"/silent")
	if _, err := s.Stat(t.Context(), "f"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	close(silent)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Stat(ctx, "f"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestNameServicesComeFromTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	conf := `<configuration>
<property><name>fs.defaultFS</name><value>hdfs://lake</value></property>
<property><name>dfs.ha.namenodes.lake</name><value>a, b</value></property>
<property><name>dfs.namenode.rpc-address.lake.a</name><value>127.0.0.1:1</value></property>
<property><name>dfs.namenode.rpc-address.lake.b</name><value>127.0.0.1:2</value></property>
<property><name>dfs.namenode.rpc-address.other.a</name><value>127.0.0.1:3</value></property>
</configuration>`
	if err := os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{"hdfs://lake/t": "127.0.0.1:1 127.0.0.1:2", "hdfs://host/t": "host:8020", "hdfs://host:9000/t": "host:9000"} {
		var dialed []string
		opt := hdfs.Options{ConfDir: dir, User: "tester", Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			dialed = append(dialed, address)
			return nil, errors.New("not today")
		}}
		_, err := open(t, opt, place).Stat(t.Context(), "f")
		if got := strings.Join(dialed, " "); got != want || lake.KindOf(err) != lake.Transient {
			t.Errorf("%s: %s (want %s), %v", place, got, want, err)
		}
	}
	root := lake.Root{Scheme: "hdfs", Path: "t"}
	if _, err := hdfs.New(hdfs.Options{ConfDir: t.TempDir()}).Open(t.Context(), root); lake.KindOf(err) != lake.Invalid {
		t.Error(err)
	}
	if _, err := hdfs.New(hdfs.Options{Kerberos: true, KrbConf: filepath.Join(dir, "none")}).Open(t.Context(), lake.Root{Scheme: "hdfs", Authority: "h", Path: "t"}); lake.KindOf(err) != lake.Denied {
		t.Error(err)
	}
}

func TestSettingsFromTheEnvironment(t *testing.T) {
	env := map[string]string{"LAKESWEEP_HDFS_KERBEROS": "true", "LAKESWEEP_HDFS_KEYTAB": "/k"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	if o, err := hdfs.FromEnv(lookup); err != nil || !o.Kerberos || o.Keytab != "/k" {
		t.Errorf("%+v, %v", o, err)
	}
	env = map[string]string{"LAKESWEEP_HDFS_PROTECTION": "odd"}
	if _, err := hdfs.FromEnv(lookup); lake.KindOf(err) != lake.Invalid {
		t.Error(err)
	}
}

// What is created whole has what it was created with, on both ways, and a name
// that is taken stays as it is.
func TestSmallAndLargeFilesAreCreatedOnceOnAServer(t *testing.T) {
	s := open(t, hdfs.Options{User: "tester"}, fmt.Sprintf("hdfs://%s/create/%d", server(t), os.Getpid()))
	for _, size := range []int{0, 1, 32 << 10, 32<<10 + 1, 200_000} {
		name, data := fmt.Sprintf("f%d", size), strings.Repeat("x", size)
		if err := s.PutIfAbsent(t.Context(), name, []byte(data)); err != nil {
			t.Fatal(err)
		}
		if err := s.PutIfAbsent(t.Context(), name, []byte("another")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%d bytes, created again: %v", size, err)
		}
		in, err := s.Open(t.Context(), name, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		have, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil || string(have) != data {
			t.Errorf("%d bytes: %d read, %v", size, len(have), err)
		}
	}
	page, err := s.List(t.Context(), store.PageRequest{Dirs: true})
	if err != nil || len(page.Entries) != 5 {
		t.Errorf("left behind: %+v, %v", page.Entries, err)
	}
}

// A lock that is taken over while its first holder is still writing it stays
// its second holder's, and the first one hears of it.
func TestAFileThatIsReplacedMeanwhileStaysTheOthersOnAServer(t *testing.T) {
	address := server(t)
	place := fmt.Sprintf("hdfs://%s/taken/%d", address, os.Getpid())
	other := open(t, hdfs.Options{User: "tester"}, place)
	meanwhile := sync.OnceFunc(func() {
		if err := other.Remove(t.Context(), "lock", ""); err != nil {
			t.Error(err)
		}
		if err := other.PutIfAbsent(t.Context(), "lock", []byte("theirs")); err != nil {
			t.Error(err)
		}
	})
	s := open(t, hdfs.Options{User: "tester", Dial: func(ctx context.Context, network, to string) (net.Conn, error) {
		if to != address { // a data node: the file is created, and nothing is written yet
			meanwhile()
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}}, place)
	if err := s.PutIfAbsent(t.Context(), "lock", []byte("ours")); err == nil {
		t.Error("a file that is gone was written")
	}
	in, err := other.Open(t.Context(), "lock", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	have, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil || string(have) != "theirs" {
		t.Errorf("%q, %v", have, err)
	}
}
