// A three.js scene for cloth: sheets with a colour per vertex, solids, points; orbit by mouse, touch
// and keyboard. It draws only when something has changed.

import {
    BufferAttribute,
    BufferGeometry,
    Color,
    DirectionalLight,
    DoubleSide,
    HemisphereLight,
    Line,
    Mesh,
    MeshStandardMaterial,
    PerspectiveCamera,
    Points,
    PointsMaterial,
    Scene,
    SRGBColorSpace,
    Sphere,
    Vector3,
    WebGLRenderer,
    LineBasicMaterial,
    LineSegments,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Rgb } from "./colors";
import { cssVariable, onTheme } from "./theme";

const ORBIT_STEP = Math.PI / 24; // per key press [rad]
const ZOOM_STEP = 1.12; // per key press
const HOME_DIRECTION = new Vector3(0.35, 0.4, 1); // from the middle to the camera
const FILLED = 0.94; // of the view

// A surface whose vertices move. Positions and colours are three numbers per vertex.
export class SheetMesh {
    readonly object: Mesh<BufferGeometry, MeshStandardMaterial>;
    private readonly position: BufferAttribute;
    private readonly color: BufferAttribute;
    private hidden = false; // some triangles

    constructor(
        vertexCount: number,
        private readonly triangles: Uint32Array,
    ) {
        const geometry = new BufferGeometry();
        this.position = new BufferAttribute(new Float32Array(3 * vertexCount), 3);
        this.color = new BufferAttribute(new Float32Array(3 * vertexCount).fill(1), 3);
        geometry.setAttribute("position", this.position);
        geometry.setAttribute("color", this.color);
        geometry.setIndex(new BufferAttribute(triangles.slice(), 1));
        geometry.boundingSphere = new Sphere(); // of no use for what moves, but asked for
        const material = new MeshStandardMaterial({ vertexColors: true, side: DoubleSide, roughness: 0.85 });
        this.object = new Mesh(geometry, material);
        this.object.frustumCulled = false; // its bounds change with every frame
    }

    get positions(): Float32Array {
        return this.position.array as Float32Array;
    }

    // A triangle with a vertex that is not known, which is NaN, is not drawn.
    setPositions(positions: Float32Array): void {
        this.positions.set(positions);
        const unknown = positions.some(Number.isNaN);
        if (unknown || this.hidden) this.hideUnknown();
        this.hidden = unknown;
        this.position.needsUpdate = true;
        this.object.geometry.computeVertexNormals();
    }

    private hideUnknown(): void {
        const index = this.object.geometry.index!;
        const known = (vertex: number) => !Number.isNaN(this.positions[3 * vertex]);
        for (let t = 0; t < this.triangles.length; t += 3) {
            const corners = this.triangles.subarray(t, t + 3);
            const shown = known(corners[0]) && known(corners[1]) && known(corners[2]);
            for (let c = 0; c < 3; ++c) index.array[t + c] = shown ? corners[c] : 0;
        }
        index.needsUpdate = true;
        for (let i = 0; i < this.positions.length; ++i) {
            if (Number.isNaN(this.positions[i])) this.positions[i] = 0;
        }
    }

    // Sets the colour of every vertex; `color` writes sRGB.
    setColors(color: (vertex: number) => Rgb): void {
        writeColors(this.color, color);
    }

    setOpacity(opacity: number): void {
        const material = this.object.material;
        material.opacity = opacity;
        material.transparent = opacity < 1;
        material.depthWrite = opacity >= 1;
        material.needsUpdate = true;
    }

    set visible(visible: boolean) {
        this.object.visible = visible;
    }
}

// A curve through points that move, such as a rope; the same calls as a SheetMesh.
export class CurveLine {
    readonly object: Line<BufferGeometry, LineBasicMaterial>;
    private readonly position: BufferAttribute;
    private readonly color: BufferAttribute;

    constructor(
        vertexCount: number,
        private readonly order: Uint32Array,
    ) {
        const geometry = new BufferGeometry();
        this.position = new BufferAttribute(new Float32Array(3 * vertexCount), 3);
        this.color = new BufferAttribute(new Float32Array(3 * vertexCount).fill(1), 3);
        geometry.setAttribute("position", this.position);
        geometry.setAttribute("color", this.color);
        geometry.setIndex(new BufferAttribute(order, 1));
        geometry.boundingSphere = new Sphere();
        this.object = new Line(geometry, new LineBasicMaterial({ vertexColors: true }));
        this.object.frustumCulled = false;
    }

    get positions(): Float32Array {
        return this.position.array as Float32Array;
    }

    // A point that is not known, which is NaN, is left out: it lies on its neighbour.
    setPositions(positions: Float32Array): void {
        this.positions.set(positions);
        const known = Array.from(this.order).filter((vertex) => !Number.isNaN(positions[3 * vertex]));
        let near = known[0] ?? 0;
        for (const vertex of this.order) {
            if (!Number.isNaN(positions[3 * vertex])) near = vertex;
            for (let axis = 0; axis < 3; ++axis) {
                const value = positions[3 * near + axis];
                this.positions[3 * vertex + axis] = Number.isNaN(value) ? 0 : value;
            }
        }
        this.position.needsUpdate = true;
    }

    setColors(color: (vertex: number) => Rgb): void {
        writeColors(this.color, color);
    }

    setOpacity(opacity: number): void {
        this.object.material.opacity = opacity;
        this.object.material.transparent = opacity < 1;
    }

    set visible(visible: boolean) {
        this.object.visible = visible;
    }
}

function writeColors(attribute: BufferAttribute, color: (vertex: number) => Rgb): void {
    const made = new Color();
    for (let vertex = 0; vertex < attribute.count; ++vertex) {
        made.setRGB(...color(vertex), SRGBColorSpace);
        attribute.setXYZ(vertex, made.r, made.g, made.b);
    }
    attribute.needsUpdate = true;
}

export class Stage {
    readonly scene = new Scene();
    readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
    readonly renderer: WebGLRenderer;
    readonly controls: OrbitControls;
    private home: Vector3[] = [new Vector3(-1, -1, -1), new Vector3(1, 1, 1)];
    private dirty = false;

    // Throws where the browser has no WebGL; the caller shows a message in its place.
    constructor(
        readonly container: HTMLElement,
        label: string,
    ) {
        this.renderer = new WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
        this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
        const canvas = this.renderer.domElement;
        canvas.tabIndex = 0;
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", label);
        container.append(canvas);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.addEventListener("change", () => this.requestDraw());
        canvas.addEventListener("keydown", (event) => this.onKey(event));
        this.addLights();
        new ResizeObserver(() => this.resize()).observe(container);
        this.resize();
        onTheme(() => this.requestDraw());
    }

    addSheet(vertexCount: number, triangles: Uint32Array): SheetMesh {
        const sheet = new SheetMesh(vertexCount, triangles);
        this.scene.add(sheet.object);
        return sheet;
    }

    addCurve(vertexCount: number, order: Uint32Array): CurveLine {
        const curve = new CurveLine(vertexCount, order);
        this.scene.add(curve.object);
        return curve;
    }

    // Something that cloth may touch.
    addSolid(positions: Float32Array, triangles: Uint32Array): Mesh {
        const geometry = new BufferGeometry();
        geometry.setAttribute("position", new BufferAttribute(positions, 3));
        geometry.setIndex(new BufferAttribute(triangles, 1));
        geometry.computeVertexNormals();
        const material = new MeshStandardMaterial({ roughness: 0.95, side: DoubleSide });
        onTheme(() => material.color.set(cssVariable("--floor")));
        const solid = new Mesh(geometry, material);
        this.scene.add(solid);
        return solid;
    }

    // Points of one colour, such as handles; `setPositions` of what is returned moves them.
    addPoints(count: number, variable: string, size: number): Points<BufferGeometry, PointsMaterial> {
        const geometry = new BufferGeometry();
        geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * count), 3));
        const material = new PointsMaterial({ size, sizeAttenuation: false });
        onTheme(() => material.color.set(cssVariable(variable)));
        const points = new Points(geometry, material);
        points.frustumCulled = false;
        this.scene.add(points);
        return points;
    }

    // Lines between pairs of points, six numbers each.
    addLines(positions: Float32Array, variable: string): LineSegments {
        const geometry = new BufferGeometry();
        geometry.setAttribute("position", new BufferAttribute(positions, 3));
        const material = new LineBasicMaterial();
        onTheme(() => material.color.set(cssVariable(variable)));
        const lines = new LineSegments(geometry, material);
        lines.frustumCulled = false;
        this.scene.add(lines);
        return lines;
    }

    // Shows a box as a whole, from a little above; this is also where Home goes.
    fit(low: Vector3, high: Vector3): void {
        const pick = (corner: number, bit: number, axis: "x" | "y" | "z") => (corner & bit ? high : low)[axis];
        this.fitPoints(
            Array.from({ length: 8 }, (_, i) => new Vector3(pick(i, 1, "x"), pick(i, 2, "y"), pick(i, 4, "z"))),
        );
    }

    fitPoints(points: Vector3[]): void {
        this.home = points;
        this.goHome();
    }

    // As near as it can be with all these points in view, in the middle of the view.
    goHome(): void {
        const back = HOME_DIRECTION.clone().normalize();
        const right = new Vector3().crossVectors(this.camera.up, back).normalize();
        const up = new Vector3().crossVectors(back, right);
        const center = new Vector3();
        for (const axis of [right, up, back]) {
            const along = this.home.map((point) => point.dot(axis));
            const [low, high] = [along.reduce((a, b) => Math.min(a, b)), along.reduce((a, b) => Math.max(a, b))];
            center.addScaledVector(axis, (low + high) / 2);
        }
        const tall = Math.tan((this.camera.fov * Math.PI) / 360) * FILLED;
        const wide = tall * this.camera.aspect;
        let distance = 1e-6;
        for (const point of this.home) {
            const from = point.clone().sub(center);
            const need = Math.max(Math.abs(from.dot(right)) / wide, Math.abs(from.dot(up)) / tall);
            distance = Math.max(distance, need + from.dot(back));
        }
        this.camera.near = distance / 100;
        this.camera.far = distance * 20;
        this.camera.position.copy(center).addScaledVector(back, distance);
        this.controls.target.copy(center);
        this.camera.updateProjectionMatrix();
        this.controls.update();
        this.requestDraw();
    }

    orbit(across: number, up: number): void {
        const offset = this.camera.position.clone().sub(this.controls.target);
        offset.applyAxisAngle(this.camera.up, across);
        const right = new Vector3().crossVectors(this.camera.up, offset).normalize();
        const polar = offset.angleTo(this.camera.up);
        const limit = 0.05;
        offset.applyAxisAngle(right, Math.min(Math.max(up, limit - polar), Math.PI - limit - polar));
        this.camera.position.copy(this.controls.target).add(offset);
        this.controls.update();
        this.requestDraw();
    }

    zoom(factor: number): void {
        const offset = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
        this.camera.position.copy(this.controls.target).add(offset);
        this.controls.update();
        this.requestDraw();
    }

    requestDraw(): void {
        if (this.dirty) return;
        this.dirty = true;
        requestAnimationFrame(() => this.draw());
    }

    draw(): void {
        this.dirty = false;
        this.renderer.render(this.scene, this.camera);
    }

    private addLights(): void {
        this.scene.add(new HemisphereLight(0xffffff, 0x8a8f9c, 2.0));
        const sun = new DirectionalLight(0xffffff, 1.6);
        sun.position.set(0.4, 1, 0.8);
        this.scene.add(sun);
    }

    private resize(): void {
        const { clientWidth, clientHeight } = this.container;
        if (clientWidth === 0 || clientHeight === 0) return;
        this.renderer.setSize(clientWidth, clientHeight);
        this.camera.aspect = clientWidth / clientHeight;
        this.camera.updateProjectionMatrix();
        this.requestDraw();
    }

    private onKey(event: KeyboardEvent): void {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const actions: Record<string, () => void> = {
            ArrowLeft: () => this.orbit(-ORBIT_STEP, 0),
            ArrowRight: () => this.orbit(ORBIT_STEP, 0),
            ArrowUp: () => this.orbit(0, -ORBIT_STEP),
            ArrowDown: () => this.orbit(0, ORBIT_STEP),
            "+": () => this.zoom(1 / ZOOM_STEP),
            "=": () => this.zoom(1 / ZOOM_STEP),
            "-": () => this.zoom(ZOOM_STEP),
            Home: () => this.goHome(),
        };
        const action = actions[event.key];
        if (!action) return;
        event.preventDefault();
        action();
    }
}
