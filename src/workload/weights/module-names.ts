import { renamed, type WeightView } from './weight-view.ts'

/**
 * `view` with whole modules renamed (stored module → wanted module): `a.b` → `x` makes `a.b.c.weight` into
 * `x.c.weight`, the most definite entry counts, and tensors of other modules are left out.
 */
export function underModules(
  view: WeightView,
  modules: ReadonlyMap<string, string>,
  reshape?: (name: string, dims: readonly number[]) => readonly number[],
): WeightView {
  const names = new Map<string, string>()
  for (const name of view.names) {
    const module = moduleOf(name, modules)
    if (module !== undefined) names.set(modules.get(module) + name.slice(module.length), name)
  }
  return renamed(view, names, reshape)
}

/** The longest beginning of `name` that ends before a dot and is a key of `modules`. */
function moduleOf(name: string, modules: ReadonlyMap<string, string>): string | undefined {
  for (let end = name.lastIndexOf('.'); end > 0; end = name.lastIndexOf('.', end - 1))
    if (modules.has(name.slice(0, end))) return name.slice(0, end)
  return undefined
}
