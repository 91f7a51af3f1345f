/// What present objects gain and lose of one kind of properties, hierarchy and all.
struct PropertyFlow {
  /// Properties of the newer model without a value in some objects.
  private(set) var gained: Set<PropertySlot> = []
  /// Properties of the older model that no property takes the values of, for some objects.
  private(set) var lost: Set<PropertySlot> = []
  /// By entity of the newer model: what its objects inherit that others of them had already.
  private(set) var inherited: [Int: [PropertySlot]] = [:]
  /// By entity of the newer model: what its objects no longer inherit, while others keep it.
  private(set) var disinherited: [Int: [PropertySlot]] = [:]
  private var notedAbove: Set<Note> = []

  private struct Note: Hashable {
    let entity: Int
    let slot: PropertySlot
    let isGain: Bool
  }

  init(
    _ pairing: PropertyPairing, _ entities: EntityPairing,
    _ relatives: [EntityPairing.Relatives], _ old: EntityTree, _ new: EntityTree
  ) {
    let loose = LooseProperties(pairing)
    var reached: [Int: Set<PropertySlot>] = [:]
    var byOld: [Int: EntityPairing.Relatives] = [:]
    for pair in relatives {
      byOld[pair.old] = pair
      let hasObjects = !old.entities[pair.old].isAbstract
      for slot in loose.new(pair, entities) {
        if let source = pairing.source(of: slot, for: pair, entities) {
          reached[pair.old, default: []].insert(source)
        } else if pairing.partner(ofNew: slot, entities) == nil {
          if hasObjects { gained.insert(slot) }
        } else if isNews(Note(entity: pair.new, slot: slot, isGain: true), new.parents) {
          inherited[pair.new, default: []].append(slot)
        }
      }
    }
    for pair in old.topDown.compactMap({ byOld[$0] }) {
      let hasObjects = !old.entities[pair.old].isAbstract
      let kept = reached[pair.old] ?? []
      for slot in loose.old(pair, entities) where !kept.contains(slot) {
        if pairing.partner(ofOld: slot, entities) == nil {
          if hasObjects { lost.insert(slot) }
        } else if isNews(Note(entity: pair.old, slot: slot, isGain: false), old.parents) {
          disinherited[pair.new, default: []].append(slot)
        }
      }
    }
  }

  /// Whether a note was not made of the entity's parent, which it inherits it from.
  private mutating func isNews(_ note: Note, _ parents: [Int?]) -> Bool {
    notedAbove.insert(note)
    guard let parent = parents[note.entity] else { return true }
    return !notedAbove.contains(Note(entity: parent, slot: note.slot, isGain: note.isGain))
  }
}
