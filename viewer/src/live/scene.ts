// Draws the world: sheets or ropes, obstacles, pins, and where the cursor is.

import {
    BufferAttribute,
    BufferGeometry,
    Color,
    GridHelper,
    Group,
    LineBasicMaterial,
    LineSegments,
    Mesh,
    Points,
    PointsMaterial,
    Raycaster,
    SRGBColorSpace,
    Vector2,
    Vector3,
} from "three";
import { colorOf, type Scale } from "../shared/colors";
import { SheetMesh, Stage } from "../shared/stage";
import { cssVariable, onTheme } from "../shared/theme";
import type { Track, World } from "./world";
import type { Vector } from "./wasm";

const REACH = 30; // how far beside the cloth a finger may land [pixel]
const GAP = 1.25; // between two cloths, in their lengths
const MOST_THREADS = 13000; // of a mesh whose edges are drawn; more would be a grey blur

// The edges of a sheet, faintly, so that folds can be seen.
function threads(sheet: SheetMesh, edges: Uint32Array): LineSegments {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", sheet.object.geometry.getAttribute("position"));
    geometry.setIndex(new BufferAttribute(edges, 1));
    const material = new LineBasicMaterial({ transparent: true, opacity: 0.13, depthWrite: false });
    onTheme(() => material.color.set(cssVariable("--ink")));
    const lines = new LineSegments(geometry, material);
    lines.frustumCulled = false;
    return lines;
}

// A rope: it has no surface.
class RopeLines {
    readonly object: LineSegments<BufferGeometry, LineBasicMaterial>;
    private readonly positions: BufferAttribute;
    private readonly colors: BufferAttribute;

    constructor(count: number, edges: Uint32Array) {
        const geometry = new BufferGeometry();
        this.positions = new BufferAttribute(new Float32Array(3 * count), 3);
        this.colors = new BufferAttribute(new Float32Array(3 * count).fill(1), 3);
        geometry.setAttribute("position", this.positions);
        geometry.setAttribute("color", this.colors);
        geometry.setIndex(new BufferAttribute(edges, 1));
        this.object = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true }));
        this.object.frustumCulled = false;
    }

    setPositions(positions: Float32Array): void {
        (this.positions.array as Float32Array).set(positions);
        this.positions.needsUpdate = true;
    }

    setColors(color: (vertex: number) => [number, number, number]): void {
        const made = new Color();
        for (let vertex = 0; vertex < this.colors.count; ++vertex) {
            made.setRGB(...color(vertex), SRGBColorSpace);
            this.colors.setXYZ(vertex, made.r, made.g, made.b);
        }
        this.colors.needsUpdate = true;
    }
}

function dots(variable: string, size: number): Points<BufferGeometry, PointsMaterial> {
    const material = new PointsMaterial({ size, sizeAttenuation: false, depthTest: false });
    onTheme(() => material.color.set(cssVariable(variable)));
    const points = new Points(new BufferGeometry(), material);
    points.frustumCulled = false;
    points.renderOrder = 2;
    return points;
}

function placeDots(points: Points<BufferGeometry, PointsMaterial>, at: Vector[]): void {
    const known = points.geometry.getAttribute("position") as BufferAttribute | undefined;
    if (known?.count !== at.length) {
        points.geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * at.length), 3));
    }
    const position = points.geometry.getAttribute("position") as BufferAttribute;
    at.forEach((point, i) => position.setXYZ(i, ...point));
    position.needsUpdate = true;
    points.visible = at.length > 0;
}

class DrawnTrack {
    readonly group = new Group();
    readonly sheet: SheetMesh | RopeLines;
    private readonly pins = dots("--focus", 9);
    private readonly cursor = dots("--accent", 13);
    private solid?: Mesh;

    constructor(
        readonly track: Track,
        stage: Stage,
    ) {
        const { particleCount, triangles, edges } = track.cloth;
        this.sheet =
            triangles.length > 0 ? new SheetMesh(particleCount, triangles) : new RopeLines(particleCount, edges);
        this.group.add(this.sheet.object, this.pins, this.cursor);
        if (this.sheet instanceof SheetMesh && edges.length / 2 <= MOST_THREADS) {
            this.sheet.object.material.polygonOffset = true;
            this.sheet.object.material.polygonOffsetFactor = 1;
            this.group.add(threads(this.sheet, edges));
        }
        stage.scene.add(this.group);
        this.drawObstacle(stage);
    }

    drawObstacle(stage: Stage): void {
        if (this.solid) {
            this.solid.removeFromParent();
            this.solid.geometry.dispose();
        }
        this.solid = undefined;
        const { points, triangles } = this.track.cloth.obstacleSurface();
        if (triangles.length === 0) return;
        this.solid = stage.addSolid(points, triangles);
        this.group.add(this.solid);
    }

    draw(cursor?: number): void {
        this.sheet.setPositions(this.track.cloth.positions());
        placeDots(this.pins, [...this.track.pins.keys()].map((p) => this.track.position(p)));
        placeDots(this.cursor, cursor === undefined ? [] : [this.track.position(cursor)]);
    }

    paint(values: Float32Array, scale: Scale): void {
        this.sheet.setColors((vertex) => colorOf(scale, values[vertex]));
    }

    remove(): void {
        this.group.removeFromParent();
        this.sheet.object.geometry.dispose();
        this.solid?.geometry.dispose();
    }
}

export interface Picked {
    place: number; // of the track
    particle: number;
    point: Vector3; // in the world of the picture
}

export class WorldScene {
    readonly stage: Stage;
    private drawn: DrawnTrack[] = [];
    private readonly raycaster = new Raycaster();
    private grid?: GridHelper;
    overlaid = false;

    constructor(
        container: HTMLElement,
        private readonly world: World,
    ) {
        this.stage = new Stage(container, "The cloth. Arrow keys turn the view, plus and minus zoom.");
    }

    // After cloths have come or gone.
    renew(): void {
        for (const drawn of this.drawn) drawn.remove();
        this.drawn = this.world.tracks.map((track) => new DrawnTrack(track, this.stage));
        this.place();
        this.fit();
    }

    place(): void {
        this.drawn.forEach((drawn, place) => drawn.group.position.set(this.offset(place), 0, 0));
        const second = this.drawn[1]?.sheet;
        if (second instanceof SheetMesh) second.setOpacity(this.overlaid ? 0.6 : 1);
    }

    private offset(place: number): number {
        if (this.overlaid || place === 0) return 0;
        return GAP * Math.max(...this.world.tracks.map(({ cloth }) => cloth.sheet.length));
    }

    drawObstacles(): void {
        for (const drawn of this.drawn) drawn.drawObstacle(this.stage);
    }

    // Room for the cloth to hang down.
    fit(): void {
        const low = new Vector3(Infinity, Infinity, Infinity);
        const high = low.clone().negate();
        this.world.tracks.forEach(({ cloth }, place) => {
            const { length, width } = cloth.sheet;
            const right = this.offset(place) + length / 2;
            low.min(new Vector3(right - length, -1.1 * Math.max(width, 0.3 * length), -width / 2));
            high.max(new Vector3(right, 0.25 * Math.max(length, width), width / 2));
        });
        this.stage.fit(low, high);
        this.addGrid(low, high);
    }

    // A floor to see depth by, which nothing touches.
    private addGrid(low: Vector3, high: Vector3): void {
        this.grid?.removeFromParent();
        const side = 2 * Math.max(high.x - low.x, high.z - low.z);
        this.grid = new GridHelper(side, 20, cssVariable("--line"), cssVariable("--line"));
        this.grid.position.set((low.x + high.x) / 2, low.y, 0);
        this.stage.scene.add(this.grid);
    }

    draw(cursor?: { place: number; particle: number }): void {
        this.drawn.forEach((drawn, place) => drawn.draw(cursor?.place === place ? cursor.particle : undefined));
        this.stage.draw();
    }

    paint(place: number, values: Float32Array, scale: Scale): void {
        this.drawn[place].paint(values, scale);
    }

    // The particle under a point of the screen, or near it.
    pick(x: number, y: number): Picked | undefined {
        const box = this.stage.renderer.domElement.getBoundingClientRect();
        const at = new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
        this.raycaster.setFromCamera(at, this.stage.camera);
        return this.pickSurface() ?? this.pickNear(x - box.left, y - box.top, box);
    }

    private pickSurface(): Picked | undefined {
        let best: Picked | undefined;
        let least = Infinity;
        this.drawn.forEach(({ sheet, track, group }, place) => {
            if (!(sheet instanceof SheetMesh)) return;
            sheet.object.geometry.computeBoundingSphere();
            const [hit] = this.raycaster.intersectObject(sheet.object);
            if (!hit?.face || hit.distance >= least) return;
            least = hit.distance;
            const own = hit.point.clone().sub(group.position);
            const corners = [hit.face.a, hit.face.b, hit.face.c];
            const away = (p: number) => own.distanceToSquared(new Vector3(...track.position(p)));
            const particle = corners.reduce((a, b) => (away(a) <= away(b) ? a : b));
            best = { place, particle, point: hit.point };
        });
        return best;
    }

    private pickNear(x: number, y: number, box: DOMRect): Picked | undefined {
        let best: Picked | undefined;
        let least = REACH;
        const point = new Vector3();
        this.drawn.forEach(({ track, group }, place) => {
            for (let particle = 0; particle < track.cloth.particleCount; ++particle) {
                const world = new Vector3(...track.position(particle)).add(group.position);
                point.copy(world).project(this.stage.camera);
                const dx = ((point.x + 1) / 2) * box.width - x;
                const dy = ((1 - point.y) / 2) * box.height - y;
                const away = Math.hypot(dx, dy);
                if (point.z < 1 && away < least) [least, best] = [away, { place, particle, point: world }];
            }
        });
        return best;
    }

    // Where a point of the screen lies in the plane through `through` that faces the viewer.
    planePoint(x: number, y: number, through: Vector3): Vector3 {
        const box = this.stage.renderer.domElement.getBoundingClientRect();
        const at = new Vector3(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2, 0.5);
        const { position } = this.stage.camera;
        const forward = this.stage.camera.getWorldDirection(new Vector3());
        const ray = at.unproject(this.stage.camera).sub(position).normalize();
        const depth = through.clone().sub(position).dot(forward);
        return ray.multiplyScalar(depth / ray.dot(forward)).add(position);
    }

    // From the world of the picture to that of a cloth.
    toTrack(place: number, point: Vector3): Vector {
        return [point.x - this.drawn[place].group.position.x, point.y, point.z];
    }
    toPicture(place: number, point: Vector): Vector3 {
        return new Vector3(...point).add(this.drawn[place].group.position);
    }
}
