package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Sources returns the breaks of the house's rules in the files of one package
// (tests left out): os.Exit and its likes outside cmd, store.Deleter outside
// store and reap, func init, and package variables that change.
func Sources(fset *token.FileSet, pkg string, files []*ast.File) []string {
	s := &sources{fset: fset, pkg: strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/"), info: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}}
	// Names are resolved within the package; imports stay unknown, which is enough.
	conf := types.Config{Error: func(error) {}, Importer: noImports{}, DisableUnusedImportCheck: true}
	s.types, _ = conf.Check(pkg, fset, files, s.info) // its errors are about the imports
	for _, f := range files {
		for _, d := range f.Decls {
			s.declaration(d)
		}
		ast.Inspect(f, s.node)
	}
	slices.Sort(s.breaks)
	return s.breaks
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

type sources struct {
	fset   *token.FileSet
	pkg    string
	types  *types.Package
	info   *types.Info
	breaks []string
}

func (s *sources) report(at ast.Node, format string, args ...any) {
	s.breaks = append(s.breaks, fmt.Sprintf("%s: %s", s.fset.Position(at.Pos()), fmt.Sprintf(format, args...)))
}

func (s *sources) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.Name == "init" {
			s.report(d, "func init: pass things in instead")
		}
	case *ast.GenDecl:
		if d.Tok != token.VAR {
			return
		}
		for _, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			embedded := d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed") })
			for _, name := range v.Names {
				if name.Name != "_" && len(v.Values) == 0 && !embedded {
					s.report(name, "package variable %s has no value, so something must change it", name.Name)
				}
			}
			for _, value := range v.Values {
				if lit, ok := value.(*ast.CompositeLit); ok && mutableType(lit.Type) {
					s.report(v, "package variable of a type that is made to change")
				}
			}
		}
	}
}

// mutableType reports sync.Mutex, atomic.Int64 and the like. A sync.Pool holds
// nothing that a caller could tell from a new one.
func mutableType(t ast.Expr) bool {
	sel, ok := t.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && (pkg.Name == "sync" && sel.Sel.Name != "Pool" || pkg.Name == "atomic")
}

func (s *sources) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		s.selector(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, l := range n.Lhs {
				s.changed(l)
			}
		}
	case *ast.IncDecStmt:
		s.changed(n.X)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			s.changed(n.X)
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") && len(n.Args) > 0 {
			s.changed(n.Args[0])
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			s.changed(n.Key)
			s.changed(n.Value)
		}
	}
	return true
}

func (s *sources) selector(n *ast.SelectorExpr) {
	x, ok := n.X.(*ast.Ident)
	if !ok {
		return
	}
	if _, isPackage := s.info.Uses[x].(*types.PkgName); !isPackage {
		return
	}
	switch name := x.Name + "." + n.Sel.Name; {
	case (name == "os.Exit" || strings.HasPrefix(name, "log.Fatal") || name == "syscall.Exit") && rank(s.pkg) > 0:
		s.report(n, "%s: return an error, only cmd ends the process", name)
	case (name == "store.Deleter" || name == "store.Trasher") && !within(s.pkg, "store") && !within(s.pkg, "reap"):
		s.report(n, "%s belongs to store and reap", name)
	}
}

// changed reports an assignment to a package variable, or to a part of one.
func (s *sources) changed(e ast.Expr) {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.Ident:
			if v, ok := s.info.Uses[x].(*types.Var); ok && s.types != nil && v.Parent() == s.types.Scope() {
				s.report(x, "package variable %s changes: pass it in instead", x.Name)
			}
			return
		default:
			return
		}
	}
}
